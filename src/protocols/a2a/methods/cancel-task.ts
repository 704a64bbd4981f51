/** `CancelTask` / `tasks/cancel`: A2A 1.0 §3.1.5. Cancelling what is canceled already is no error (§3.3.1). */
import { isLullError } from '../../../core/errors.ts'
import type { Task } from '../../../core/task.ts'
import type { A2AContext, Call, Method } from '../call.ts'
import { wholeTask } from '../codec/codec.ts'
import { optionalJsonObject } from '../params.ts'
import { ownTask, taskIdIn } from './own-task.ts'

export const cancelTask: Method = {
  scope: 'tasks:write',
  faults: { TASK_TERMINAL: 'TASK_NOT_CANCELABLE' },
  async run(a2a, call) {
    const taskId = taskIdIn(call)
    const metadata = optionalJsonObject(call.params, 'metadata')
    await ownTask(a2a, call, taskId)
    const canceled = await cancel(a2a, call, taskId, metadata)
    return { value: call.codec.task(canceled, wholeTask) }
  },
}

/** Once more is no error, as long as it was this that ended the task. */
export async function cancel(
  { engine }: A2AContext,
  { caller }: Call,
  taskId: string,
  metadata?: Task['metadata'],
): Promise<Task> {
  try {
    return await engine.cancel(caller, { taskId, metadata })
  } catch (error) {
    const repeated = isLullError(error, 'TASK_TERMINAL') && error.details.state === 'canceled'
    if (repeated) return engine.get(caller, taskId)
    throw error
  }
}
