/** Reminders of agents without `task.turn`: the invariants T1 to T3 of step-reminders.ts. */
import { describe, expect, it } from 'vitest'
import type { AgentTask } from '../agent-task.ts'
import { parked, quiet } from '../test-support/reminder-scene.ts'
import { alice, createWorld, dataOf, running } from '../test-support/world.ts'

const ids = (task: AgentTask): string[] => task.reminders.map(({ id }) => id)
const step = (task: AgentTask): Promise<number> => task.step('work', () => 1)

describe('an agent without turns', () => {
  it('is shown its reminders, and each step outside of another counts as a turn', async () => {
    const scene = await parked(async (task) => {
      const seen: string[][] = []
      for (let n = 0; n < 3; n++) {
        seen.push(ids(task))
        await step(task)
      }
      return seen
    })
    await scene.inject('r-1', { ttlTurns: 2 })
    await scene.inject('r-2')
    expect(await scene.resumed()).toEqual([['r-1', 'r-2'], ['r-1', 'r-2'], ['r-2']])
    expect(await scene.told()).toEqual([
      'injected r-1',
      'injected r-2',
      'emitted r-1 1',
      'emitted r-2 1',
      'expired r-1 ttl',
      'expired r-2 task_ended',
    ])
  })

  it('loses no turn of a reminder by steps that did not see it or that failed', async () => {
    const scene = await parked(async (task) => {
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
    await scene.inject('r-1', { ttlTurns: 1 })
    expect(await scene.resumed()).toEqual([['r-1'], ['r-1'], []])
  })

  it('reads them inside a step too, and as one block for a model', async () => {
    const scene = await parked(async (task) => task.step('ask model', () => task.reminderBlock))
    await scene.inject('r-1', { body: 'CI is red', ttlTurns: 1 })
    expect(await scene.resumed()).toContain('CI is red')
    expect(await scene.pending()).toEqual([])
  })

  it('T1: reads the same when it is rebuilt, whatever came since', async () => {
    const runs: string[][][] = []
    const world = await createWorld({
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
    const { id } = await world.send('go')
    await world.until(id, 'paused-by-agent')
    const reminder = { id: 'late', body: 'b' }
    await world.engine.remind(alice, { taskId: id, reminder })
    await world.engine.resume(alice, { taskId: id })
    const task = await world.until(id, 'completed')
    expect(dataOf(task, 'seen')).toEqual([[], [], ['late']])
    expect(runs.map((seen) => seen.slice(0, 2))).toEqual([
      [[], []],
      [[], []],
    ])
  })

  it('T2, T3: sees the same behind one result, and later what does not wait', async () => {
    const scene = await parked(async (task) => {
      const first = ids(task)
      await task.say('between')
      const second = ids(task)
      return [first, ids(task), second]
    })
    await scene.inject('r-1', { mode: 'wait_for_completion' })
    expect(await scene.resumed()).toEqual([['r-1'], ['r-1'], ['r-1']])
  })

  it('sees inside task.turn what the turn sees', async () => {
    const scene = await parked((task) =>
      task.turn((turn) => [ids(task), turn.reminders.map(({ id }) => id)]),
    )
    await scene.inject('r-1', { ttlTurns: 1 })
    expect(await scene.resumed()).toEqual([['r-1'], ['r-1']])
    expect(await scene.told()).toContain('emitted r-1 1')
  })
})
