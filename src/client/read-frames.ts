/** Reads the frames of a stream that change one fact of a task. */
import type { JsonObject } from '../core/json.ts'
import type { ArtifactFrame, StatusFrame, TaskFrame } from './tasks/task-types.ts'
import type { Version } from './version.ts'
import {
  extendedState,
  progressIn,
  readDeduped,
  readExpired,
  readReminder,
  reminderChangeIn,
  stateOf,
  streamIn,
} from './wire/extension-metadata.ts'
import { isTrue, objectIn, present, textIn } from './wire/json-members.ts'
import type { ContentReader } from './wire/message-format.ts'

export interface FrameReader {
  /** Undefined for a frame that says nothing new. */
  status(value: JsonObject, cursor: string): TaskFrame | undefined
  artifact(value: JsonObject, cursor: string): TaskFrame
  notification(value: JsonObject, cursor: string): TaskFrame | undefined
}

export function createFrameReader(version: Version, content: ContentReader): FrameReader {
  function readStatus(value: JsonObject, cursor: string): TaskFrame | undefined {
    const metadata = objectIn(value, 'metadata') ?? {}
    const taskId = textIn(value, 'taskId') ?? ''
    const change = reminderChangeIn(metadata)
    if (change !== undefined) {
      // A peer with 0.3 also sends each of these changes as a notification of the RFC, which is read instead.
      return version === '0.3' ? undefined : { kind: 'reminder', cursor, taskId, change }
    }
    const given = content.status(objectIn(value, 'status'))
    const state = stateOf(given.state, metadata)
    return present<StatusFrame>({
      kind: 'status',
      cursor,
      taskId,
      contextId: textIn(value, 'contextId') ?? '',
      state,
      status: given,
      metadata,
      ...extendedState(state, metadata),
      progress: progressIn(metadata),
    })
  }

  function readArtifact(value: JsonObject, cursor: string): TaskFrame {
    return present<ArtifactFrame>({
      kind: 'artifact',
      cursor,
      taskId: textIn(value, 'taskId') ?? '',
      contextId: textIn(value, 'contextId') ?? '',
      artifact: content.artifact(objectIn(value, 'artifact') ?? {}),
      append: isTrue(value, 'append'),
      lastChunk: isTrue(value, 'lastChunk'),
      stream: streamIn(objectIn(value, 'metadata')),
    })
  }

  return { status: readStatus, artifact: readArtifact, notification: readNotification }
}

/** Only the notifications about reminders are read. An ordinary frame says that a task stops or resumes. */
function readNotification(value: JsonObject, cursor: string): TaskFrame | undefined {
  const params = objectIn(value, 'params') ?? {}
  const taskId = textIn(params, 'taskId') ?? ''
  switch (textIn(value, 'method')) {
    case 'tasks/reminderEmitted': {
      const metadata = objectIn(params, 'metadata') ?? {}
      const reminder = readReminder({ ...objectIn(params, 'reminder'), metadata })
      return { kind: 'reminder', cursor, taskId, change: { event: 'emitted', reminder } }
    }
    case 'tasks/reminderDeduped': {
      const change = readDeduped(params, 'reminderId', 'displacedIds')
      return { kind: 'reminder', cursor, taskId, change }
    }
    case 'tasks/reminderExpired':
      return { kind: 'reminder', cursor, taskId, change: readExpired(params) }
    default:
      return undefined
  }
}
