/** A call of the plan as it goes over the wire. Whatever it leaves in the log bears its number. */
import { EVENT_TYPE, type StormCall } from './plan.ts'
import type { Answer, Wire } from './wire.ts'

/** Under this name a call is found in the log: reason, idempotency key, message id, event id. */
export const nameOf = ({ n }: Pick<StormCall, 'n'>): string => `call-${n}`

export function perform(
  wire: Wire,
  call: StormCall,
  taskId: string,
  handle: string | undefined,
): Promise<Answer> {
  const { dialect } = call
  const name = nameOf(call)
  if (call.kind === 'event') return emit(wire, name, call.subject)
  if (call.kind === 'message') return say(wire, dialect === '1.0', taskId, name)
  if (call.kind === 'cancel') {
    const method = dialect === '1.0' ? 'CancelTask' : 'tasks/cancel'
    return wire.rpc(dialect, method, dialect === 'bindu' ? { task_id: taskId } : { id: taskId })
  }
  if (dialect === 'bindu') return wire.rpc(dialect, `tasks/${call.kind}`, { task_id: taskId })
  if (call.kind === 'pause') {
    const { mode, graceMs, conditions } = call
    // What is undefined does not travel.
    const params = { taskId, reason: name, mode, graceMs, conditions }
    return wire.rpc(dialect, 'tasks/pause', params)
  }
  return wire.rpc(dialect, 'tasks/resume', {
    taskId,
    handle,
    input: call.withInput ? { call: call.n } : undefined,
    continueTranscript: call.continueTranscript,
    metadata: { idempotencyKey: name },
  })
}

export function emit(wire: Wire, id: string, subject: string): Promise<Answer> {
  return wire.emit({ specversion: '1.0', id, source: 'storm', type: EVENT_TYPE, subject })
}

/** A message to the task: an answer, or something to read at its next turn. */
export function say(wire: Wire, isV1: boolean, taskId: string, messageId: string): Promise<Answer> {
  const metadata = { 'a2a-idempotency-key': messageId }
  const about = { messageId, taskId, metadata }
  if (isV1) {
    const message = { ...about, role: 'ROLE_USER', parts: [{ text: 'this one' }] }
    const configuration = { returnImmediately: true }
    return wire.rpc('1.0', 'SendMessage', { message, configuration })
  }
  const message = { ...about, role: 'user', parts: [{ kind: 'text', text: 'this one' }] }
  return wire.rpc('0.3', 'message/send', { message, configuration: { blocking: false } })
}
