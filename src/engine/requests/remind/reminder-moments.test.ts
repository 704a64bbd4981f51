/** Reminders that come when nobody looks: while a task is stopped, stops, waits, or is about to end. */
import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../../core/records.ts'
import type { Json } from '../../../core/values/json.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import { createHarnessThatCrashes } from '../../test-support/crash-at-record.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  olga,
  running,
  signal,
} from '../../test-support/engine-harness.ts'
import { ids, quiet, toldBy, turns } from '../../test-support/reminded-task.ts'

const inject = (harness: Harness, taskId: string, some: object = {}) =>
  harness.engine.remind(alice, { taskId, reminder: { id: 'r-1', body: 'b', ttlTurns: 1, ...some } })

/** The task does something, and then has two turns. */
async function turnsAfter(first: (task: AgentTask) => Promise<unknown>): Promise<Harness> {
  return createHarness({
    agents: [
      running(async (task) => {
        await first(task)
        await task.artifact({ name: 'seen', data: await turns(task, 2) })
      }, quiet),
    ],
  })
}

const seenBy = async (harness: Harness, id: string): Promise<Json | undefined> =>
  dataOf(await harness.until(id, 'completed'), 'seen')

describe('a reminder that comes while the task', () => {
  it('is parked waits for its next turn', async () => {
    const harness = await turnsAfter((task) => task.park({ reason: 'x' }))
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await inject(harness, id)
    await harness.engine.resume(alice, { taskId: id })
    expect(await seenBy(harness, id)).toEqual([['r-1'], []])
  })

  it('is paused waits for its next turn, and a new process shows it too', async () => {
    const begun = signal()
    const harness = await turnsAfter((task) =>
      task.step(
        'long',
        async ({ attempt }) => {
          begun.fire()
          if (attempt === 1) await new Promise((_, reject) => setImmediate(reject))
        },
        { retry: { attempts: 1, backoffMs: 60_000 } },
      ),
    )
    const { id } = await harness.send('go')
    await begun.promise
    await harness.settled()
    await harness.engine.pause(alice, { taskId: id })
    await inject(harness, id)
    const next = await harness.recover()
    expect((await next.get(id)).state).toBe('paused-by-client')
    await next.engine.resume(alice, { taskId: id })
    await next.pass(60_000)
    expect(await seenBy(next, id)).toEqual([['r-1'], []])
  })

  it('quiesces does not hold up the pause and is shown after it', async () => {
    const [begun, go] = [signal(), signal()]
    const harness = await turnsAfter((task) =>
      task.turn((turn) =>
        turn.tool('long', async () => {
          begun.fire()
          await go.promise
        }),
      ),
    )
    const { id } = await harness.send('go')
    await begun.promise
    const paused = harness.engine.pause(alice, { taskId: id })
    await harness.until(id, (task) => task.pausing !== undefined)
    await inject(harness, id)
    go.fire()
    expect((await paused).state).toBe('paused-by-client')
    await harness.engine.resume(alice, { taskId: id })
    expect(await seenBy(harness, id)).toEqual([['r-1'], []])
    expect(toldBy(await harness.log(id))).toEqual([
      'injected r-1',
      'emitted r-1 2',
      'expired r-1 ttl',
    ])
  })

  it('waits for an answer, or is held, is shown once it goes on', async () => {
    const harness = await turnsAfter((task) => task.ask('?'))
    const { id } = await harness.send('go')
    await harness.until(id, 'input-required')
    const { holdId } = await harness.engine.hold(olga, { scope: { taskIds: [id] }, reason: 'x' })
    await inject(harness, id)
    await harness.tell(id, 'yes')
    await harness.engine.lift(olga, holdId)
    expect(await seenBy(harness, id)).toEqual([['r-1'], []])
  })

  it('waits for a slot is shown in its first turn', async () => {
    const go = signal()
    const agents = [
      running(
        async (task) => {
          if (task.text === 'first') await go.promise
          await task.artifact({ name: 'seen', data: await turns(task, 2) })
        },
        { concurrency: 1, ...quiet },
      ),
    ]
    const harness = await createHarness({ agents })
    await harness.send('first')
    const { id, state } = await harness.send('second')
    expect(state).toBe('submitted')
    await inject(harness, id)
    go.fire()
    expect(await seenBy(harness, id)).toEqual([['r-1'], []])
  })
})

describe('a reminder at the last moment', () => {
  const working = async (): Promise<Harness> => {
    const harness: Harness = await createHarness({
      agents: [
        running((task) =>
          task.turn((turn) =>
            turn.tool('work', () => new Promise<void>((done) => harness.clock.after(1_000, done))),
          ),
        ),
      ],
    })
    return harness
  }

  it('one millisecond before the task completes is accepted, and its end is told before the last record', async () => {
    const harness = await working()
    const { id } = await harness.send('go')
    const watched: LogRecord[] = []
    const records = await harness.engine.subscribe(alice, id)
    const watching = (async () => {
      for await (const record of records) watched.push(record)
    })()
    await harness.pass(999)
    expect(await inject(harness, id)).toMatchObject({ reminderId: 'r-1' })
    await harness.pass(1)
    await harness.until(id, 'completed')
    await watching
    expect(toldBy(watched)).toEqual(['injected r-1', 'expired r-1 task_ended'])
    expect(watched.slice(-2).map(({ type }) => type)).toEqual(['reminder-expired', 'completed'])
  })

  it('together with the end is either told or refused, never lost', async () => {
    const harness = await working()
    const { id } = await harness.send('go')
    await harness.settled()
    harness.clock.advance(1_000)
    const answers: string[] = []
    for (let n = 0; n < 20; n++) {
      const reminderId = `r-${n}`
      const answer = inject(harness, id, { id: reminderId }).then(
        () => `injected ${reminderId}`,
        (error: { code: string }) => error.code,
      )
      answers.push(await answer)
    }
    await harness.until(id, 'completed')
    const told = toldBy(await harness.log(id))
    const accepted = answers.filter((answer) => answer !== 'TASK_TERMINAL')
    expect(told.filter((line) => line.startsWith('injected'))).toEqual(accepted)
    const ended = told.flatMap((line) => line.match(/r-\d+(?=.* task_ended)/g) ?? [])
    expect(ended.length).toBe(accepted.length)
    expect(answers).toContain('TASK_TERMINAL')
  })

  it('after the end is refused, and asked again with the id of one before it, answered', async () => {
    const harness = await working()
    const { id } = await harness.send('go')
    await harness.settled()
    const answer = await inject(harness, id)
    await harness.pass(1_000)
    await harness.until(id, 'completed')
    expect(await inject(harness, id)).toEqual(answer)
    await expect(inject(harness, id, { id: 'r-2' })).rejects.toMatchObject({
      code: 'TASK_TERMINAL',
    })
  })
})

describe('a parent that dies while it reminds its child', () => {
  const agents = [
    running(
      async (task) => {
        const child = await task.delegate('child', 'x')
        await child.remind({ body: 'one' })
        await child.remind({ body: 'one' })
        await child.remind({ id: 'mine', body: 'two' })
        await task.artifact({ name: 'child', data: child.id })
      },
      { name: 'parent' },
    ),
    running((task) => task.park({ reason: 'x' }).then(() => undefined), { name: 'child' }),
  ]

  it.each([1, 2, 3])(
    'has reminded it no more often than it was asked to (death %i)',
    async (nth) => {
      let injected = 0
      const { harness, recover } = await createHarnessThatCrashes(
        { agents },
        ({ type }) => type === 'reminder-injected' && ++injected === nth,
      )
      harness.send('go').catch(() => undefined)
      await harness.settled()
      const next = await recover()
      const { tasks } = await next.engine.list(alice)
      const parentId = tasks.find(({ agent }) => agent === 'parent')?.id ?? ''
      const childId = String(dataOf(await next.until(parentId, 'completed'), 'child'))
      const pending = await next.engine.reminders(alice, childId)
      expect(pending.map(({ body }) => body)).toEqual(['one', 'one', 'two'])
      expect(pending[2]?.id).toBe('mine')
    },
  )
})

it('a death between the answer to an injection and the turn that shows it costs nothing', async () => {
  const { harness, recover } = await createHarnessThatCrashes(
    {
      agents: [
        running(async (task) => {
          await task.park({ reason: 'x' })
          const seen: Json[] = []
          for (let n = 0; n < 4; n++) await task.turn((turn) => seen.push(ids(turn)))
          await task.artifact({ name: 'seen', data: seen })
        }, quiet),
      ],
    },
    ({ type }) => type === 'resumed',
  )
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  await inject(harness, id, { ttlTurns: 2 })
  harness.engine.resume(alice, { taskId: id }).catch(() => undefined)
  await harness.settled()
  const next = await recover()
  expect(await seenBy(next, id)).toEqual([['r-1'], ['r-1'], [], []])
})
