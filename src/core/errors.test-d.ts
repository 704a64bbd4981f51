/** What the compiler must accept and refuse. Checked by `tsc`; nothing here runs. */
import { type ErrorCode, isLullError, LullError, type Refusal, refuse } from './errors.ts'

new LullError('REMINDER_LIMIT', { taskId: 'task-1', limit: 64 })
// @ts-expect-error a detail is missing
new LullError('REMINDER_LIMIT', { taskId: 'task-1' })
// @ts-expect-error details of another code
new LullError('REMINDER_LIMIT', { agent: 'echo' })
// @ts-expect-error no such code
new LullError('SOMETHING', {})

refuse('TASK_NOT_PAUSED', { taskId: 'task-1', state: 'working' })
// @ts-expect-error a handle mismatch names the handle
refuse('RESUME_HANDLE_MISMATCH', { taskId: 'task-1' })

function afterACheck(error: unknown): void {
  if (isLullError(error, 'TASK_HELD')) {
    error.details.holdIds satisfies readonly string[]
    // @ts-expect-error not a detail of this code
    error.details.limit
  }
  if (isLullError(error)) error.code satisfies ErrorCode
}

function byCode(refusal: Refusal): void {
  if (refusal.code === 'REMINDER_LIMIT') refusal.details.limit satisfies number
  // @ts-expect-error the code has to be looked at first
  refusal.details.limit
}

void [afterACheck, byCode]
