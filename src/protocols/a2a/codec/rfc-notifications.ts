/**
 * The notifications of the PAUSED and reminder RFCs, in exactly their shapes. They are sent only to clients that ask
 * for them, because official clients end their stream on a frame that is not a response.
 */
import { toIso } from '../../../core/values/instant.ts'
import { pausedAtOf, resumeFacts } from '../metadata.ts'
import type { PausedUpdate, ResumedUpdate, RfcNotification } from '../schemas/rfc-notifications.ts'
import type { ReminderChange, TaskEvent } from '../streams/task-events.ts'

export function notificationOf(event: TaskEvent): RfcNotification | undefined {
  const { task } = event
  if (event.kind === 'reminder') return reminderNotification(task.id, event.change)
  if (event.kind !== 'status') return undefined
  const { suspension } = task
  const { type } = event.record
  if ((type === 'paused' || type === 'parked') && suspension !== undefined) {
    const { handle, reason, initiator, conditions } = suspension
    return statusUpdate({
      taskId: task.id,
      state: task.state as PausedUpdate['state'],
      handle,
      ...(reason === undefined ? {} : { reason }),
      initiator,
      pausedAt: toIso(pausedAtOf(suspension)),
      conditions: conditions ?? null,
    })
  }
  const answer = task.resumes.at(-1)
  if (type !== 'resumed' || answer === undefined) return undefined
  return statusUpdate({ taskId: task.id, state: task.state, ...resumeFacts(answer) })
}

function statusUpdate(params: PausedUpdate | ResumedUpdate): RfcNotification {
  return { method: 'tasks/statusUpdate', params }
}

function reminderNotification(taskId: string, change: ReminderChange): RfcNotification {
  if (change.event === 'emitted') {
    const { id, body, tags, dedupeKey, source, firedAtTurn, metadata = {} } = change.reminder
    const reminder = {
      id,
      body,
      tags,
      ...(dedupeKey === undefined ? {} : { dedupeKey }),
      ...(source === undefined ? {} : { source }),
      ...(firedAtTurn === undefined ? {} : { firedAtTurn }),
    }
    return { method: 'tasks/reminderEmitted', params: { taskId, reminder, metadata } }
  }
  if (change.event === 'deduped') {
    const { dedupeKey, by, displaced } = change
    const params = { taskId, reminderId: by, dedupeKey, displacedIds: displaced }
    return { method: 'tasks/reminderDeduped', params }
  }
  const { reminderId, reason } = change
  return { method: 'tasks/reminderExpired', params: { taskId, reminderId, reason } }
}
