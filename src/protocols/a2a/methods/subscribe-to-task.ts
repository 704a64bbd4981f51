/** `SubscribeToTask` / `tasks/resubscribe`: A2A 1.0 §3.1.6. */
import { isTerminal } from '../../../core/states.ts'
import type { Method } from '../call.ts'
import { wholeTask } from '../codec/codec.ts'
import { A2AError } from '../errors/faults.ts'
import { readCursor } from '../streams/cursor.ts'
import { taskStream } from '../streams/stream.ts'
import { ownTask, taskIdIn } from './own-task.ts'

export const subscribeToTask: Method = {
  scope: 'tasks:read',
  streams: true,
  async run(a2a, call) {
    const task = await ownTask(a2a, call, taskIdIn(call))
    const cursor = readCursor(call.request.header('last-event-id'))
    const from = cursor !== undefined && cursor.seq <= task.version + 1 ? cursor : undefined
    // A reader with a cursor gets the rest of the stream. Without one, a subscription to an ended task is refused.
    if (from === undefined && isTerminal(task.state)) {
      const { id: taskId, state } = task
      throw new A2AError('UNSUPPORTED_OPERATION', `Task ${taskId} is ${state}: nothing follows`, {
        taskId,
        state,
      })
    }
    return taskStream(a2a, call, { task, view: wholeTask, openedBy: 'subscription', from })
  },
}
