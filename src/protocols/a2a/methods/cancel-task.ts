/** `CancelTask` / `tasks/cancel`: A2A 1.0 §3.1.5. In 1.0 a second cancel is no error (§3.3.1); in 0.3 it is -32002. */
import { isLullError } from '../../../core/errors.ts'
import type { Task } from '../../../core/task.ts'
import type { CancelRequest } from '../../../engine/requests/cancel-task.ts'
import { verbs } from '../../../engine/requests/verbs.ts'
import { optionalJsonObject } from '../addresses/params.ts'
import type { A2AContext, Call, Method } from '../call.ts'
import { wholeTask } from '../codec/codec.ts'
import { ownTask, taskIdIn } from './own-task.ts'

export const cancelTask: Method = {
  scope: verbs.cancel.scope,
  faults: { TASK_TERMINAL: 'TASK_NOT_CANCELABLE' },
  async run(a2a, call) {
    const taskId = taskIdIn(call)
    const metadata = optionalJsonObject(call.params, 'metadata')
    await ownTask(a2a, call, taskId)
    const canceled = await cancel(a2a, call, { taskId, metadata })
    return { value: call.codec.task(canceled, wholeTask) }
  },
}

async function cancel(
  { engine }: A2AContext,
  { caller, codec }: Call,
  request: CancelRequest,
): Promise<Task> {
  try {
    return await engine.cancel(caller, request)
  } catch (error) {
    const isCanceled = isLullError(error, 'TASK_TERMINAL') && error.details.state === 'canceled'
    if (isCanceled && codec.version === '1.0') return engine.get(caller, request.taskId)
    throw error
  }
}
