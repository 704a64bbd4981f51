/**
 * Reads tasks, pages of tasks and the frames of streams. Both formats of 0.3 are read (JSON-RPC has `kind`, REST has the
 * names of the proto), because one peer may use both.
 */
import type { JsonObject } from '../../core/values/json.ts'
import { notA2A } from '../client-error.ts'
import type {
  ArtifactFrame,
  MessageFrame,
  SnapshotFrame,
  StatusFrame,
  Task,
  TaskFrame,
  TaskPage,
} from '../tasks/task-types.ts'
import type { Version } from './a2a-names.ts'
import {
  readDeduped,
  readExpired,
  readExtendedState,
  readProgress,
  readReminder,
  readReminderChange,
  readState,
  readStreamState,
} from './extension-metadata.ts'
import {
  isObject,
  isTrue,
  omitUndefined,
  readList,
  readMember,
  readObject,
  readString,
} from './json-members.ts'
import { type ContentReader, createContentReader } from './message-format.ts'

export interface WireReader {
  task(value: unknown): Task
  /** The answer to a send. */
  sent(value: unknown): SnapshotFrame | MessageFrame
  /** @returns a frame of a stream; undefined when the frame changes nothing for the caller */
  frame(value: unknown, cursor: string): TaskFrame | undefined
  page(value: unknown): TaskPage
}

export function createWireReader(version: Version): WireReader {
  const content = createContentReader(version)
  const { message, artifact, status } = content
  const frames = createFrameReader(version, content)

  function task(value: unknown): Task {
    const id = readString(value, 'id')
    const wireStatus = readObject(value, 'status')
    if (id === undefined || wireStatus === undefined) throw notA2A('a task without id or status')
    const metadata = readObject(value, 'metadata') ?? {}
    const state = readState(readString(wireStatus, 'state') ?? '', metadata)
    return {
      id,
      contextId: readString(value, 'contextId') ?? '',
      state,
      status: status(wireStatus),
      artifacts: readList(value, 'artifacts').filter(isObject).map(artifact),
      history: readList(value, 'history').filter(isObject).map(message),
      metadata,
      ...readExtendedState(state, metadata),
    }
  }

  function frame(value: unknown, cursor: string): TaskFrame | undefined {
    const [kind, inner] = unwrapFrame(value)
    if (inner === undefined) return undefined
    switch (kind) {
      case 'task':
        return { kind, cursor, task: task(inner) }
      case 'message':
        return { kind, cursor, message: message(inner) }
      case 'statusUpdate':
      case 'status-update':
        return frames.status(inner, cursor)
      case 'artifactUpdate':
      case 'artifact-update':
        return frames.artifact(inner, cursor)
      case 'notification':
        return frames.notification(inner, cursor)
    }
  }

  return {
    task,
    frame,
    sent(value) {
      const answer = frame(value, '')
      if (answer?.kind === 'task' || answer?.kind === 'message') return answer
      throw notA2A('neither a task nor a message')
    },
    page(value) {
      const total = readMember(value, 'totalSize')
      const tasks = readList(value, 'tasks').map(task)
      return {
        tasks,
        nextPageToken: readString(value, 'nextPageToken') ?? '',
        totalSize: typeof total === 'number' ? total : tasks.length,
      }
    },
  }
}

/** 1.0 and REST of 0.3 wrap the value, JSON-RPC of 0.3 has `kind`, and the notifications of the RFCs have a `method`. */
function unwrapFrame(
  value: unknown,
): readonly [kind: Kind | undefined, value: JsonObject | undefined] {
  if (!isObject(value)) return [undefined, undefined]
  const wrapped = wrappers.find((one) => isObject(value[one]))
  if (wrapped !== undefined) return [wrapped, readObject(value, wrapped)]
  if (typeof value['method'] === 'string') return ['notification', value]
  return [kinds.find((kind) => kind === value['kind']), value]
}

const wrappers = ['task', 'message', 'statusUpdate', 'artifactUpdate'] as const
const kinds = ['task', 'message', 'status-update', 'artifact-update'] as const
type Kind = (typeof wrappers)[number] | (typeof kinds)[number] | 'notification'

/** Reads the frames that change one part of a task. */
function createFrameReader(version: Version, content: ContentReader) {
  function readStatus(value: JsonObject, cursor: string): TaskFrame | undefined {
    const metadata = readObject(value, 'metadata') ?? {}
    const taskId = readString(value, 'taskId') ?? ''
    const change = readReminderChange(metadata)
    if (change !== undefined) {
      // A peer of 0.3 sends each change twice: as this frame, and as a notification of the RFC, which is read instead.
      return version === '0.3' ? undefined : { kind: 'reminder', cursor, taskId, change }
    }
    const status = content.status(readObject(value, 'status'))
    const state = readState(status.state, metadata)
    return omitUndefined<StatusFrame>({
      kind: 'status',
      cursor,
      taskId,
      contextId: readString(value, 'contextId') ?? '',
      state,
      status,
      metadata,
      ...readExtendedState(state, metadata),
      progress: readProgress(metadata),
    })
  }

  function readArtifact(value: JsonObject, cursor: string): TaskFrame {
    return omitUndefined<ArtifactFrame>({
      kind: 'artifact',
      cursor,
      taskId: readString(value, 'taskId') ?? '',
      contextId: readString(value, 'contextId') ?? '',
      artifact: content.artifact(readObject(value, 'artifact') ?? {}),
      append: isTrue(value, 'append'),
      lastChunk: isTrue(value, 'lastChunk'),
      stream: readStreamState(readObject(value, 'metadata')),
    })
  }

  return { status: readStatus, artifact: readArtifact, notification: readNotification }
}

/** Reads the notifications about reminders. Others repeat what a status frame says, and are left out. */
function readNotification(value: JsonObject, cursor: string): TaskFrame | undefined {
  const params = readObject(value, 'params') ?? {}
  const taskId = readString(params, 'taskId') ?? ''
  switch (readString(value, 'method')) {
    case 'tasks/reminderEmitted': {
      const metadata = readObject(params, 'metadata') ?? {}
      const reminder = readReminder({ ...readObject(params, 'reminder'), metadata })
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
