/**
 * Writes one frame of a stream: the versions of A2A have the same content with different names. Also writes the
 * notifications of the PAUSED and reminder RFCs, in exactly their shapes. They are sent only to clients that ask for
 * them, because official clients end their stream on a frame that is not a response.
 */

import type { Artifact, Message } from '../../../core/messages/message.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { isTunnelled, type Metadata } from '../dialects/harn.ts'
import { eventMessage, pausedAtOf, resumeFacts } from '../metadata.ts'
import type { PausedUpdate, ResumedUpdate, RfcNotification } from '../schemas/rfc-notifications.ts'
import type { ReminderChange, TaskEvent } from '../streams/task-events.ts'

interface Update {
  readonly taskId: string
  readonly contextId: string
  metadata?: JsonObject
}

export interface ArtifactUpdate extends Update {
  readonly artifact: object
  readonly append: boolean
  readonly lastChunk: boolean
}

export interface StatusUpdate extends Update {
  readonly status: object
}

export interface EventSpelling {
  /**
   * Whether changes of reminders have frames. If not, only clients of the Harn metadata get them.
   */
  readonly hasReminderFrames: boolean
  /** Whether what an agent returned is also shown as an artifact. */
  readonly hasResult: boolean
  artifact(artifact: Artifact): object
  status(task: Task, message: Message | undefined): object
  /** The first frame of a task. */
  taskFrame(task: Task): object
  artifactFrame(update: ArtifactUpdate): object
  statusFrame(update: StatusUpdate, closes: boolean): object
}

/** @returns undefined when the version has no frame for the event */
export function writeEvent(
  event: TaskEvent,
  closes: boolean,
  facts: Metadata,
  spelling: EventSpelling,
): object | undefined {
  const { kind, task } = event
  const { id: taskId, contextId } = task
  if (kind === 'reminder' && !spelling.hasReminderFrames && !isTunnelled(facts, event)) {
    return undefined
  }
  if (kind === 'artifact' && event.isResult && !spelling.hasResult) return undefined
  if (kind === 'status' && event.record.type === 'submitted') return spelling.taskFrame(task)
  const metadata = facts.ofEvent(event)
  if (kind === 'artifact') {
    const { append, last: lastChunk } = event
    const artifact = spelling.artifact(event.artifact)
    const update: ArtifactUpdate = { taskId, contextId, artifact, append, lastChunk }
    if (metadata !== undefined) update.metadata = metadata
    return spelling.artifactFrame(update)
  }
  const status = spelling.status(task, kind === 'reminder' ? undefined : eventMessage(event))
  const update: StatusUpdate = { taskId, contextId, status }
  if (metadata !== undefined) update.metadata = metadata
  return spelling.statusFrame(update, closes)
}

/**
 * The notifications of the PAUSED and reminder RFCs, in exactly their shapes. They are sent only to clients that ask
 * for them, because official clients end their stream on a frame that is not a response.
 */
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
