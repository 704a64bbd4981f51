import { expect, it } from 'vitest'
import { ClientError } from '../../client/client-error.ts'
import type { Changes, TaskSummary } from '../../client/index.ts'
import type { Ops } from '../../client/ops-client.ts'
import { createFakeIo } from '../test-support/fake-io.ts'
import { watchOpenTasks } from './watch-open-tasks.ts'

const task = (taskId: string, state: string, version = 1) =>
  ({ taskId, state, version, agent: 'echo', says: 'hi' }) as TaskSummary

const gone = new ClientError('refused', 'gone', { reason: 'TASK_NOT_FOUND', status: 404 })
/** Ends the watch. */
const over = new ClientError('refused', 'no', { reason: 'FORBIDDEN', status: 403 })

/** @param lists what each read of the open tasks answers @param messages of the only connection */
function opsOf(lists: TaskSummary[][], stored: readonly TaskSummary[], ...messages: Changes[]) {
  const asked: string[] = []
  const ops: Pick<Ops, 'tasks' | 'task' | 'changes'> = {
    async tasks({ counts } = {}) {
      asked.push(`tasks, counts ${counts}`)
      const tasks = lists.shift() ?? []
      return { tasks, total: tasks.length, counts: {} }
    },
    async task(taskId) {
      asked.push(taskId)
      const found = stored.find((one) => one.taskId === taskId)
      if (found === undefined) throw gone
      return found
    },
    async *changes() {
      yield* messages
      throw over
    },
  }
  return { ops: ops as Ops, asked }
}

it('prints the end of a task that ended while the connection was lost, and forgets removed tasks', async () => {
  const io = createFakeIo()
  const before = [task('t1', 'working'), task('t2', 'working'), task('t3', 'working')]
  const { ops, asked } = opsOf(
    [before, [task('t2', 'working')], [task('t2', 'working')]],
    [task('t1', 'completed', 2)],
    { tasks: [], more: false },
    { tasks: [], more: true },
  )
  await expect(watchOpenTasks({ ops, agent: undefined }, false, io)).rejects.toBe(over)
  expect(io.out.map((line) => line.split('  ').slice(0, 2))).toEqual([
    ['t3', 'working'],
    ['t2', 'working'],
    ['t1', 'working'],
    ['t1', 'completed'],
  ])
  // Each of the two is read once, so neither is remembered.
  const list = 'tasks, counts false'
  expect(asked).toEqual([list, list, 't3', 't1', list])
})
