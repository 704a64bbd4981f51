/** Operations that nobody awaited: O1 to O3 of run-ending.ts. */
import { describe, expect, it } from 'vitest'
import type { AgentDefinition } from '../author/agent.ts'
import type { AgentTask } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  effects,
  type Harness,
  running,
  signal,
} from '../test-support/engine-harness.ts'

const MINUTE = 60_000

async function begun(
  run: (task: AgentTask) => Promise<string | undefined>,
  some: Partial<AgentDefinition> = {},
) {
  const harness = await createHarness({ agents: [running(run, some)] })
  const { id } = await harness.send('go')
  await harness.settled()
  return { harness, id }
}

const warnings = (harness: Harness) =>
  harness.said.filter(({ level }) => level === 'warn').map(({ text }) => text)
const notAwaited = 'the code of a task ended while operations were open that nobody awaited'

describe('a step that nobody awaited', () => {
  it('O1, O2: is waited for, recorded and named', async () => {
    const finish = signal()
    const { harness, id } = await begun(async (task) => {
      void task.step('mail', () => finish.promise.then(() => 'sent'))
      return 'done'
    })
    expect((await harness.get(id)).state).toBe('working')
    finish.fire()
    const task = await harness.until(id, 'completed')
    expect(task.statusMessage?.parts).toEqual([{ text: 'done' }])
    const log = await harness.log(id)
    expect(log.slice(-3)).toMatchObject([
      { type: 'not-awaited', operations: ['step:mail#1'], count: 1 },
      { type: 'step', name: 'mail', result: 'sent' },
      { type: 'completed' },
    ])
    expect(warnings(harness)).toEqual([notAwaited])
  })

  it('O1: takes what its code calls next with it', async () => {
    const done = effects()
    const { harness, id } = await begun(async (task) => {
      const both = async (): Promise<void> => {
        await task.step('a', () => done.note('a'))
        await task.step('b', () => done.note('b'))
      }
      void both()
      return undefined
    })
    await harness.until(id, 'completed')
    expect((await harness.types(id)).filter((type) => type === 'step')).toHaveLength(2)
    expect(done.list).toEqual(['a', 'b'])
  })

  it('O1, O2: is not lost when it fails after the end', async () => {
    const fail = signal()
    const { harness, id } = await begun(async (task) => {
      void task.step('mail', () => fail.promise)
      return 'done'
    })
    fail.fail(new Error('no route'))
    await harness.until(id, 'completed')
    expect(await harness.log(id)).toContainEqual(
      expect.objectContaining({
        type: 'step',
        failure: expect.objectContaining({ message: 'no route' }),
      }),
    )
    expect(warnings(harness)).toEqual([notAwaited, 'an operation that nobody awaited failed'])
  })

  it('O1: is abandoned after abandonAfterMs when it hangs, and its signal fires', async () => {
    const hung = signal()
    let reason: unknown
    const { harness, id } = await begun(async (task) => {
      void task.step('mail', ({ signal: abort }) => {
        abort.addEventListener('abort', () => {
          reason = abort.reason
        })
        return hung.promise
      })
      return 'done'
    })
    await harness.pass(MINUTE - 1)
    expect((await harness.get(id)).state).toBe('working')
    await harness.pass(1)
    const task = await harness.until(id, 'completed')
    expect(task.abandoned).toMatchObject([{ name: 'mail' }])
    expect(reason).toMatchObject({ code: 'ended' })
  })

  it('fails the task of a strict agent', async () => {
    const { harness, id } = await begun(
      async (task) => {
        void task.step('mail', () => 'sent')
        return 'done'
      },
      { strict: true },
    )
    const task = await harness.ended(id)
    expect(task).toMatchObject({ state: 'failed', failure: { name: 'NotAwaited' } })
    expect(task.failure?.message).toContain('step "mail"')
    expect(await harness.types(id)).toContain('step')
  })

  it('is recorded also when the code fails beside it', async () => {
    const finish = signal()
    const { harness, id } = await begun(async (task) => {
      const branches = [
        task.step('slow', () => finish.promise),
        task.step('bad', () => Promise.reject(new Error('bad'))),
      ]
      await Promise.all(branches)
      return undefined
    })
    finish.fire()
    const task = await harness.until(id, 'failed')
    expect(task.failure?.message).toBe('bad')
    expect((await harness.types(id)).filter((type) => type === 'step')).toHaveLength(2)
  })

  it('is recorded before the journal closes with continueAs', async () => {
    const finish = signal()
    const { harness, id } = await begun(async (task) => {
      if (task.state !== undefined) return 'done'
      void task.step('mail', () => finish.promise)
      return task.continueAs({ round: 2 })
    })
    finish.fire()
    await harness.until(id, 'completed')
    const types = await harness.types(id)
    expect(types.indexOf('step')).toBeLessThan(types.indexOf('continued'))
    expect(types).toContain('step')
  })

  it('can be paused, and its time does not run while the task is stopped', async () => {
    const done = effects()
    const finish = signal()
    const { harness, id } = await begun(async (task) => {
      const both = async (): Promise<void> => {
        await task.step('a', () => finish.promise)
        await task.step('b', () => done.note('b'))
      }
      void both()
      return 'done'
    })
    const pausing = harness.engine.pause(alice, { taskId: id })
    finish.fire()
    expect((await pausing).state).toBe('paused-by-client')
    await harness.pass(MINUTE / 2)
    await harness.pass(2 * MINUTE)
    expect(done.list).toEqual([])
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['b'])
    expect((await harness.types(id)).filter((type) => type === 'not-awaited')).toHaveLength(1)
  })

  it('runs once more when the process dies, and is waited for again', async () => {
    const hung = signal()
    let first = true
    const run = async (task: AgentTask): Promise<string> => {
      void task.step('mail', () => (first ? hung.promise : undefined))
      return 'done'
    }
    const { harness, id } = await begun(run)
    first = false
    const next = await harness.recover()
    await next.until(id, 'completed')
    const types = await next.types(id)
    expect(types.filter((type) => type === 'not-awaited' || type === 'step')).toEqual([
      'not-awaited',
      'step',
    ])
  })
})

it('O3: a park that nobody awaited is named, and does not begin', async () => {
  const { harness, id } = await begun(async (task) => {
    const both = async (): Promise<void> => {
      await task.step('mail', () => 'sent')
      await task.step('log', () => 'logged')
    }
    void both()
    void task.sleep('3 days')
    return 'done'
  })
  await harness.until(id, 'completed')
  const types = await harness.types(id)
  expect(types.filter((type) => type === 'step')).toHaveLength(2)
  expect(types).toContain('not-awaited')
  expect(types).not.toContain('parked')
})

it('O2: outputs that nobody awaited are recorded without a warning', async () => {
  const { harness, id } = await begun(async (task) => {
    void task.say('one')
    void task.artifact({ name: 'a', text: 'a' })
    return 'done'
  })
  await harness.until(id, 'completed')
  expect(await harness.types(id)).toEqual(expect.arrayContaining(['said', 'artifact']))
  expect(warnings(harness)).toEqual([])
})
