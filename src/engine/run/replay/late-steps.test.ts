/** A step that is over acts no more: the invariants X1 to X3 of execution.ts, and what its signal is told. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../ports/store.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import {
  aborted,
  alice,
  createHarness,
  type Harness,
  running,
  signal,
} from '../../test-support/engine-harness.ts'
import { Execution } from '../operations/execution.ts'

const calls: Readonly<Record<string, (task: AgentTask) => unknown>> = {
  say: (task) => task.say('late'),
  artifact: (task) => task.artifact({ name: 'late', text: 'late' }),
  usage: (task) => task.usage({ costUsd: 1 }),
  delegate: (task) => task.delegate('worker', 'late'),
  step: (task) => task.step('late', () => 'late'),
  now: (task) => task.now(),
}

const warnings = (harness: Harness) =>
  harness.said.filter(({ text }) => /^a step (called|returned)/.test(text))

describe('a step that ran out of time and ignores its signal', () => {
  it.each(Object.entries(calls))(
    'X1, X2: cannot call task.%s, and is logged once',
    async (name, call) => {
      const later = signal()
      const refusals: unknown[] = []
      const harness = await createHarness({
        agents: [
          running(async (task) => {
            const slow = async () => {
              await later.promise
              for (let n = 0; n < 2; n++) {
                await Promise.resolve()
                  .then(() => call(task))
                  .catch((error: Error) => refusals.push(error.message))
              }
            }
            const limits = { timeoutMs: 50, abandonAfterMs: 0 }
            await task.step('pay', slow, limits).catch(() => undefined)
            await task.park({ reason: 'waiting' })
          }),
        ],
      })
      const { id } = await harness.send('go')
      await harness.pass(50)
      await harness.until(id, 'paused-by-agent')
      const before = await harness.types(id)
      later.fire()
      await harness.settled()
      expect(await harness.types(id)).toEqual(before)
      expect(refusals).toHaveLength(2)
      expect(refusals[0]).toBe(
        `task.${name} was called in step "pay" after that step was over (Step "pay" took longer than 50 ms)`,
      )
      expect(warnings(harness).map(({ facts }) => [facts?.['taskId'], facts?.['step']])).toEqual([
        [id, 'pay'],
      ])
    },
  )

  it('X1, X2: its result is not used, which is logged', async () => {
    const later = signal()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const slow = task.step('pay', () => later.promise, { timeoutMs: 50 })
          return slow.then(() => 'paid').catch((error: Error) => error.message)
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.pass(50)
    later.fire()
    const task = await harness.ended(id)
    await harness.settled()
    expect(task.statusMessage?.parts).toEqual([{ text: 'Step "pay" took longer than 50 ms' }])
    expect(warnings(harness)).toHaveLength(1)
  })

  it('X3: nor does a step inside it, which is told as well', async () => {
    const reasons: unknown[] = []
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const inner = async ({ signal: abort }: { signal: AbortSignal }) => {
            await aborted(abort).catch((error: Error) => reasons.push(error.message))
            return 'inner'
          }
          await task
            .step('outer', () => task.step('inner', inner), { timeoutMs: 50 })
            .catch(() => undefined)
          await task.park({ reason: 'waiting' })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.pass(50)
    await harness.until(id, 'paused-by-agent')
    expect(reasons).toEqual(['Step "outer" took longer than 50 ms'])
    const steps = (await harness.log(id)).filter((record) => record.type === 'step')
    expect(steps.map(({ name }) => name)).toEqual(['outer'])
  })
})

describe('a step inside a step', () => {
  it('X3: does not begin once the outer step is over', async () => {
    const inner = createMemoryStore()
    const unstalled = signal()
    let stalled = false
    const commit: Store['commit'] = async (batch) => {
      if (stalled) await unstalled.promise
      return inner.commit(batch)
    }
    const ran: string[] = []
    const harness = await createHarness({
      store: { ...inner, commit },
      agents: [
        running(async (task) => {
          const outer = async (): Promise<void> => {
            stalled = true
            task.now() // It is written before the inner step begins.
            await task.step('inner', () => ran.push('inner'))
          }
          await task.step('outer', outer, { timeoutMs: 50 }).catch(() => undefined)
          await task.park({ reason: 'waiting' })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.pass(50)
    unstalled.fire()
    await harness.until(id, 'paused-by-agent')
    await harness.settled()
    expect(ran).toEqual([])
  })

  it('X3: is over when the outer one is', () => {
    const deps = {
      host: { log: () => undefined, clock: createManualClock() },
      taskId: 't',
      step: 's',
      abandonAfterMs: 0,
      expired: () => undefined,
      settled: () => undefined,
    }
    const outer = new Execution({ ...deps, outer: undefined })
    const inner = new Execution({ ...deps, outer })
    outer.end('it has ended')
    expect(inner.over).toBe('it has ended')
    expect(() => inner.allow('task.say')).toThrow('it has ended')
  })
})

describe("a step's signal", () => {
  const waiting = (reasons: Error[]) =>
    running(async (task) => {
      await task.step('long', ({ signal: abort, attempt }) =>
        attempt > 1 ? 'again' : aborted(abort).catch((error: Error) => Promise.reject(keep(error))),
      )
      function keep(error: Error): Error {
        reasons.push(error)
        return error
      }
    })

  it('says that the task was canceled, not that it was paused', async () => {
    const reasons: Error[] = []
    const harness = await createHarness({ agents: [waiting(reasons)] })
    const { id } = await harness.send('go')
    await harness.settled()
    await harness.engine.cancel(alice, { taskId: id })
    await harness.settled()
    expect(reasons).toMatchObject([
      { name: 'AbortError', code: 'canceled', message: 'the task was canceled' },
    ])
  })

  it('says that a pause interrupts', async () => {
    const reasons: Error[] = []
    const harness = await createHarness({ agents: [waiting(reasons)] })
    const { id } = await harness.send('go')
    await harness.settled()
    await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    await harness.settled()
    expect(reasons).toMatchObject([{ name: 'AbortError', code: 'paused' }])
  })

  it('says that the process stops', async () => {
    const reasons: Error[] = []
    const harness = await createHarness({ agents: [waiting(reasons)] })
    await harness.send('go')
    await harness.settled()
    const drained = harness.engine.drain({ timeoutMs: 10 })
    await harness.pass(10)
    await harness.pass(2_000)
    await drained
    expect(reasons).toMatchObject([{ name: 'AbortError', code: 'stopping' }])
  })

  it('of the whole task says why as well', async () => {
    const reasons: unknown[] = []
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          task.signal.addEventListener('abort', () => reasons.push(task.signal.reason))
          await task.park({ reason: 'waiting' })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.cancel(alice, { taskId: id })
    expect(reasons).toMatchObject([{ code: 'canceled' }])
  })
})

it('a step that its canceled task left behind is refused and logged', async () => {
  const later = signal()
  const refused = signal<string>()
  const harness = await createHarness({
    agents: [
      running(async (task) => {
        await task.step('pay', async () => {
          await later.promise
          await task.say('late').catch((error: Error) => refused.fire(error.message))
        })
      }),
    ],
  })
  const { id } = await harness.send('go')
  await harness.settled()
  await harness.engine.cancel(alice, { taskId: id })
  later.fire()
  expect(await refused.promise).toContain('(the task was canceled)')
  await harness.settled()
  expect((await harness.types(id)).filter((type) => type === 'said')).toEqual([])
  expect(warnings(harness)).toHaveLength(1)
})

it.each<[string, (task: AgentTask) => Promise<unknown>]>([
  ['task.park', (task) => task.park({ reason: 'x' })],
  ['task.sleep', (task) => task.sleep(1)],
  ['task.ask', (task) => task.ask('?')],
  ['task.requireAuth', (task) => task.requireAuth('?')],
  ['task.requireConsent', (task) => task.requireConsent({ prompt: '?', operation: 1 })],
  ['task.turn', (task) => task.turn(() => undefined)],
  ['task.continueAs', (task) => task.continueAs(1)],
])('%s inside a step is refused by its name', async (name, call) => {
  const harness = await createHarness({
    agents: [running((task) => task.step('outer', () => call(task) as never))],
  })
  const { id } = await harness.send('go')
  const task = await harness.ended(id)
  expect(task.failure?.message).toBe(`${name} cannot be called inside a step`)
})
