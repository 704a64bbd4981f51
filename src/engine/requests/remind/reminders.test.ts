import { describe, expect, it } from 'vitest'
import type { Json } from '../../../core/values/json.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  running,
  signal,
} from '../../test-support/engine-harness.ts'

const bodies = (reminders: readonly { readonly body: string }[]): Json =>
  reminders.map(({ body }) => body)

/** A task that parks first, so that reminders can wait for it. */
async function parked(
  run: (task: AgentTask) => Promise<Json>,
): Promise<{ harness: Harness; id: string }> {
  const harness = await createHarness({
    agents: [
      running(async (task) => {
        await task.park({ reason: 'x' })
        await task.turn(() => undefined)
        await task.artifact({ name: 'result', data: await run(task) })
      }),
    ],
  })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  return { harness, id }
}

describe('a reminder', () => {
  it('waits for the next turn, is shown until its turns are used up, and is told of', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await task.park({ reason: 'x' })
          const seen: Json[] = []
          for (let n = 0; n < 3; n++) {
            seen.push(await task.turn((turn) => bodies(turn.reminders)))
          }
          await task.artifact({ name: 'seen', data: seen })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const remind = (body: string, ttlTurns?: number) =>
      harness.engine.remind(alice, { taskId: id, reminder: { body, ttlTurns } })
    await remind('always')
    await remind('twice', 2)
    await harness.engine.resume(alice, { taskId: id })
    const seen = dataOf(await harness.until(id, 'completed'), 'seen') as string[][]
    const ours = seen.map((list) => list.filter((body) => !body.startsWith('You were stopped')))
    expect(ours).toEqual([['always', 'twice'], ['always', 'twice'], ['always']])
    const log = await harness.log(id)
    const emitted = log.flatMap((record) =>
      record.type === 'turn-started' ? [record.emitted.length] : [],
    )
    expect(emitted).toEqual([3, 0, 0])
    expect(log.filter((record) => record.type === 'reminder-expired').length).toBeGreaterThan(0)
  })

  it('that arrives within a turn is seen when the turn reads again, and by a rebuilt run too', async () => {
    const arrived = signal()
    const started = signal()
    const { harness, id } = await parked((task) =>
      task.turn(async (turn) => {
        const before = bodies(turn.reminders)
        await turn.tool('wait', async () => {
          started.fire()
          await arrived.promise
        })
        return [before, bodies(turn.reminders)]
      }),
    )
    await harness.engine.resume(alice, { taskId: id })
    await started.promise
    await harness.engine.remind(alice, { taskId: id, reminder: { body: 'hurry' } })
    await harness.engine.remind(alice, {
      taskId: id,
      reminder: { body: 'later', mode: 'wait_for_completion' },
    })
    arrived.fire()
    expect(dataOf(await harness.until(id, 'completed'), 'result')).toEqual([[], ['hurry']])
  })

  it('that interrupts skips the rest of a batch', async () => {
    const started = signal()
    const arrived = signal()
    const { harness, id } = await parked((task) =>
      task.turn(async (turn) => {
        const results = await turn.tools([
          {
            name: 'first',
            run: async () => {
              started.fire()
              await arrived.promise
            },
          },
          { name: 'second', run: () => 2 },
          { name: 'third', run: () => 3 },
        ])
        return results.map(({ name, status }) => `${name} ${status}`)
      }),
    )
    await harness.engine.resume(alice, { taskId: id })
    await started.promise
    await harness.engine.remind(alice, {
      taskId: id,
      reminder: { body: 'stop', mode: 'interrupt_immediate' },
    })
    arrived.fire()
    expect(dataOf(await harness.until(id, 'completed'), 'result')).toEqual([
      'first done',
      'second skipped',
      'third skipped',
    ])
  })

  it('replaces those of its key, is idempotent by id, and is limited in number', async () => {
    const harness = await createHarness({
      agents: [running((task) => task.park({ reason: 'x' }).then(() => undefined))],
      options: { pendingReminders: 2 },
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const remind = (reminder: { id?: string; body: string; dedupeKey?: string }) =>
      harness.engine.remind(alice, { taskId: id, reminder })
    await remind({ id: 'r', body: 'one', dedupeKey: 'k' })
    expect(await remind({ body: 'two', dedupeKey: 'k' })).toMatchObject({ dedupedCount: 1 })
    await remind({ id: 's', body: 'three' })
    expect(await remind({ id: 's', body: 'three' })).toMatchObject({ reminderId: 's' })
    await expect(remind({ id: 's', body: 'other' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    await expect(remind({ body: 'four' })).rejects.toMatchObject({ code: 'REMINDER_LIMIT' })
    expect(bodies(await harness.engine.reminders(alice, id))).toEqual(['two', 'three'])
    expect(await harness.engine.clearReminders(alice, { taskId: id })).toEqual({ clearedCount: 2 })
  })

  it('travels to children as it says, and is refused where the agent takes none', async () => {
    const child = running(
      (task) =>
        task.turn((turn) => void task.artifact({ name: 'seen', data: bodies(turn.reminders) })),
      {
        name: 'child',
      },
    )
    const parent = running(
      async (task) => {
        await task.park({ reason: 'x' })
        const { artifacts } = await (await task.delegate('child', 'x')).result()
        await task.artifact({ name: 'child saw', data: JSON.parse(JSON.stringify(artifacts)) })
      },
      { name: 'parent' },
    )
    const deaf = running((task) => task.park({ reason: 'x' }).then(() => undefined), {
      name: 'deaf',
      reminders: false,
    })
    const harness = await createHarness({ agents: [parent, child, deaf] })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    for (const propagate of ['all', 'session', 'none'] as const) {
      await harness.engine.remind(alice, { taskId: id, reminder: { body: propagate, propagate } })
    }
    await harness.engine.resume(alice, { taskId: id })
    const seen = JSON.stringify(dataOf(await harness.until(id, 'completed'), 'child saw'))
    expect(seen).toContain('["all","session"]')
    const silent = await harness.send('go', { agent: 'deaf' })
    const refused = harness.engine.remind(alice, { taskId: silent.id, reminder: { body: 'x' } })
    await expect(refused).rejects.toMatchObject({ code: 'NOT_OFFERED' })
  })
})
