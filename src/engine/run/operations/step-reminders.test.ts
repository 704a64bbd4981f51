/** Reminders of agents without `task.turn`: the invariants T1 to T4 of turn-start.ts. */
import { describe, expect, it } from 'vitest'
import type { AgentTask } from '../../author/agent-task.ts'
import type { ReminderProvider } from '../../author/providers/provider.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  running,
} from '../../test-support/engine-harness.ts'
import { parkedTask, quiet, toldBy } from '../../test-support/reminded-task.ts'

const ids = (task: AgentTask): string[] => task.reminders.map(({ id }) => id)
const toldOfContinuity = async (harness: Harness, id: string): Promise<string[]> =>
  toldBy(await harness.log(id)).flatMap((one) =>
    one.includes('-continuity') ? one.split(' ', 1) : [],
  )
const step = (task: AgentTask): Promise<number> => task.step('work', () => 1)

describe('an agent without turns', () => {
  it('is shown its reminders, and each step outside of another counts as a turn', async () => {
    const reminded = await parkedTask(async (task) => {
      const seen: string[][] = []
      for (let n = 0; n < 3; n++) {
        seen.push(ids(task))
        await step(task)
      }
      return seen
    })
    await reminded.inject('r-1', { ttlTurns: 2 })
    await reminded.inject('r-2')
    expect(await reminded.resumed()).toEqual([['r-1', 'r-2'], ['r-1', 'r-2'], ['r-2']])
    expect(await reminded.told()).toEqual([
      'injected r-1',
      'injected r-2',
      'emitted r-1 1',
      'emitted r-2 1',
      'expired r-1 ttl',
      'expired r-2 task_ended',
    ])
  })

  it('loses no turn of a reminder by steps that did not see it or that failed', async () => {
    const reminded = await parkedTask(async (task) => {
      await step(task)
      const seen = ids(task)
      await task
        .step('bad', () => {
          throw new Error('x')
        })
        .catch(() => undefined)
      const again = ids(task)
      await step(task)
      return [seen, again, ids(task)]
    })
    await reminded.inject('r-1', { ttlTurns: 1 })
    expect(await reminded.resumed()).toEqual([['r-1'], ['r-1'], []])
  })

  it('reads them inside a step too, and as one block for a model', async () => {
    const reminded = await parkedTask(async (task) =>
      task.step('ask model', () => task.reminderBlock),
    )
    await reminded.inject('r-1', { body: 'CI is red', ttlTurns: 1 })
    expect(await reminded.resumed()).toContain('CI is red')
    expect(await reminded.pending()).toEqual([])
  })

  it('T1: reads the same when it is rebuilt, whatever came since', async () => {
    const runs: string[][][] = []
    const harness = await createHarness({
      options: { warmForMs: 0 },
      agents: [
        running(async (task) => {
          const seen: string[][] = []
          runs.push(seen)
          seen.push(ids(task))
          await step(task)
          seen.push(ids(task))
          await task.park({ reason: 'x' })
          seen.push(ids(task))
          await task.artifact({ name: 'seen', data: seen })
        }, quiet),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const reminder = { id: 'late', body: 'b' }
    await harness.engine.remind(alice, { taskId: id, reminder })
    await harness.engine.resume(alice, { taskId: id })
    const task = await harness.until(id, 'completed')
    expect(dataOf(task, 'seen')).toEqual([[], [], ['late']])
    expect(runs.map((seen) => seen.slice(0, 2))).toEqual([
      [[], []],
      [[], []],
    ])
  })

  it('T2, T3: sees the same behind one result, and later what does not wait', async () => {
    const reminded = await parkedTask(async (task) => {
      const first = ids(task)
      await task.say('between')
      const second = ids(task)
      return [first, ids(task), second]
    })
    await reminded.inject('r-1', { mode: 'wait_for_completion' })
    expect(await reminded.resumed()).toEqual([['r-1'], ['r-1'], ['r-1']])
  })

  it('T3: was shown early after a rebuild what waits for the end of the turn', async () => {
    const harness = await createHarness({
      options: { warmForMs: 0 },
      agents: [
        running(async (task) => {
          const seen = [ids(task)]
          await task.park({ reason: 'x' })
          seen.push(ids(task))
          await step(task)
          seen.push(ids(task))
          await task.artifact({ name: 'seen', data: seen })
        }, quiet),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const reminder = { id: 'late', body: 'b', mode: 'wait_for_completion' } as const
    await harness.engine.remind(alice, { taskId: id, reminder })
    await harness.engine.resume(alice, { taskId: id })
    expect(dataOf(await harness.until(id, 'completed'), 'seen')).toEqual([[], [], ['late']])
  })

  it.each([
    ['warm', 60_000],
    ['rebuilt', 0],
  ])('T4: is told once of each stop, %s', async (_how, warmForMs) => {
    const bodies = (task: AgentTask): string[] => task.reminders.map(({ body }) => body)
    const harness = await createHarness({
      options: { warmForMs },
      agents: [
        running(async (task) => {
          const seen: string[][] = []
          for (const reason of ['lunch', 'tea']) {
            await task.park({ reason })
            // This turn reads nothing, so the next one is told.
            await step(task)
            seen.push(await task.step('read', () => bodies(task)))
            seen.push(bodies(task))
            await step(task)
          }
          await task.artifact({ name: 'seen', data: seen })
        }),
      ],
    })
    const { id } = await harness.send('go')
    for (const epoch of [1, 2]) {
      await harness.until(id, (task) => task.suspension?.epoch === epoch)
      await harness.engine.resume(alice, { taskId: id, input: epoch })
    }
    expect(dataOf(await harness.until(id, 'completed'), 'seen')).toEqual([
      [expect.stringMatching(/\(lunch\).* given: 1$/)],
      [],
      [expect.stringMatching(/\(tea\).* given: 2$/)],
      [],
    ])
    expect(await toldOfContinuity(harness, id)).toEqual([
      'injected',
      'emitted',
      'expired',
      'injected',
      'emitted',
      'expired',
    ])
  })

  it('T4: tells its own providers of a wake once, also where none wants a reminder', async () => {
    const told: (string | undefined)[] = []
    const watch: ReminderProvider = (moment) => {
      if (moment.type === 'turn-starting') told.push(moment.wake?.reason)
      return false
    }
    const harness = await createHarness({
      agents: [
        running(
          async (task) => {
            await task.park({ reason: 'lunch' })
            for (let n = 0; n < 2; n++) {
              ids(task)
              await step(task)
            }
            await task.turn(() => ids(task))
            ids(task)
          },
          { providers: { resumed: false, watch } },
        ),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(told).toEqual(['lunch', undefined, undefined])
  })

  it('sees inside task.turn what the turn sees', async () => {
    const reminded = await parkedTask((task) =>
      task.turn((turn) => [ids(task), turn.reminders.map(({ id }) => id)]),
    )
    await reminded.inject('r-1', { ttlTurns: 1 })
    expect(await reminded.resumed()).toEqual([['r-1'], ['r-1']])
    expect(await reminded.told()).toContain('emitted r-1 1')
  })
})
