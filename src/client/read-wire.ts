/**
 * From what a peer sends to what this client shows. Two spellings of 0.3 are read side by side (JSON-RPC has `kind`, REST
 * the names of the proto), because one peer may use both. Unknown members are left out, unknown parts kept as data.
 */
import type { Json, JsonObject } from '../core/json.ts'
import type { Artifact, Message, Part, PartFacts } from '../core/message.ts'
import { notA2A } from './client-error.ts'
import {
  progressIn,
  readDeduped,
  readExpired,
  readReminder,
  reminderChangeIn,
  stateOf,
  stopFacts,
  streamIn,
} from './facts.ts'
import { isObject, isTrue, listIn, memberOf, objectIn, present, textIn, textsIn } from './shape.ts'
import type {
  ArtifactFrame,
  MessageFrame,
  SnapshotFrame,
  StatusFrame,
  Task,
  TaskFrame,
  TaskPage,
  TaskStatus,
} from './task.ts'
import type { Version } from './version.ts'

export interface WireReader {
  task(value: unknown): Task
  /** The answer to a send. */
  sent(value: unknown): SnapshotFrame | MessageFrame
  /** A frame of a stream; undefined for one that says nothing new. */
  frame(value: unknown, cursor: string): TaskFrame | undefined
  page(value: unknown): TaskPage
}

export function createWireReader(version: Version): WireReader {
  const read = version === '1.0' ? readPart : readPart03

  function message(value: JsonObject): Message {
    const given = listIn(value, 'parts')
    const parts = given.length > 0 ? given : listIn(value, 'content')
    const role = textIn(value, 'role')
    return present<Message>({
      messageId: textIn(value, 'messageId') ?? '',
      role: role === 'user' || role === 'ROLE_USER' ? 'ROLE_USER' : 'ROLE_AGENT',
      parts: parts.map(read),
      contextId: textIn(value, 'contextId'),
      taskId: textIn(value, 'taskId'),
      referenceTaskIds: listed(textsIn(value, 'referenceTaskIds')),
      extensions: listed(textsIn(value, 'extensions')),
      metadata: objectIn(value, 'metadata'),
    })
  }

  function artifact(value: JsonObject): Artifact {
    return present<Artifact>({
      artifactId: textIn(value, 'artifactId') ?? '',
      name: textIn(value, 'name'),
      description: textIn(value, 'description'),
      parts: listIn(value, 'parts').map(read),
      extensions: listed(textsIn(value, 'extensions')),
      metadata: objectIn(value, 'metadata'),
    })
  }

  function status(value: unknown): TaskStatus {
    const said = objectIn(value, 'message')
    return present<TaskStatus>({
      state: textIn(value, 'state') ?? '',
      message: said && message(said),
      timestamp: textIn(value, 'timestamp'),
    })
  }

  function task(value: unknown): Task {
    const id = textIn(value, 'id')
    const given = objectIn(value, 'status')
    if (id === undefined || given === undefined) throw notA2A('a task without id or status')
    const metadata = objectIn(value, 'metadata') ?? {}
    const state = stateOf(textIn(given, 'state') ?? '', metadata)
    return {
      id,
      contextId: textIn(value, 'contextId') ?? '',
      state,
      status: status(given),
      artifacts: listIn(value, 'artifacts').filter(isObject).map(artifact),
      history: listIn(value, 'history').filter(isObject).map(message),
      metadata,
      ...stopFacts(state, metadata),
    }
  }

  function statusFrame(value: JsonObject, cursor: string): TaskFrame | undefined {
    const metadata = objectIn(value, 'metadata') ?? {}
    const taskId = textIn(value, 'taskId') ?? ''
    const change = reminderChangeIn(metadata)
    if (change !== undefined) {
      // In 0.3 the RFCs' notifications tell all of these; some come in a frame of their own besides.
      return version === '0.3' ? undefined : { kind: 'reminder', cursor, taskId, change }
    }
    const given = status(objectIn(value, 'status'))
    const state = stateOf(given.state, metadata)
    return present<StatusFrame>({
      kind: 'status',
      cursor,
      taskId,
      contextId: textIn(value, 'contextId') ?? '',
      state,
      status: given,
      metadata,
      ...stopFacts(state, metadata),
      progress: progressIn(metadata),
    })
  }

  function artifactFrame(value: JsonObject, cursor: string): TaskFrame {
    return present<ArtifactFrame>({
      kind: 'artifact',
      cursor,
      taskId: textIn(value, 'taskId') ?? '',
      contextId: textIn(value, 'contextId') ?? '',
      artifact: artifact(objectIn(value, 'artifact') ?? {}),
      append: isTrue(value, 'append'),
      lastChunk: isTrue(value, 'lastChunk'),
      stream: streamIn(objectIn(value, 'metadata')),
    })
  }

  function frame(value: unknown, cursor: string): TaskFrame | undefined {
    const [kind, inner] = kindOf(value)
    if (inner === undefined) return undefined
    switch (kind) {
      case 'task':
        return { kind, cursor, task: task(inner) }
      case 'message':
        return { kind, cursor, message: message(inner) }
      case 'statusUpdate':
      case 'status-update':
        return statusFrame(inner, cursor)
      case 'artifactUpdate':
      case 'artifact-update':
        return artifactFrame(inner, cursor)
      case 'notification':
        return notified(inner, cursor)
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
      const total = memberOf(value, 'totalSize')
      const tasks = listIn(value, 'tasks').map(task)
      return {
        tasks,
        nextPageToken: textIn(value, 'nextPageToken') ?? '',
        totalSize: typeof total === 'number' ? total : tasks.length,
      }
    },
  }
}

/** 1.0 and the proto of 0.3 wrap; JSON-RPC of 0.3 says `kind`; the RFCs' notifications have a method. */
function kindOf(value: unknown): readonly [kind: Kind | undefined, value: JsonObject | undefined] {
  if (!isObject(value)) return [undefined, undefined]
  const wrapped = wrappers.find((one) => isObject(value[one]))
  if (wrapped !== undefined) return [wrapped, objectIn(value, wrapped)]
  if (typeof value['method'] === 'string') return ['notification', value]
  return [kinds.find((kind) => kind === value['kind']), value]
}

const wrappers = ['task', 'message', 'statusUpdate', 'artifactUpdate'] as const
const kinds = ['task', 'message', 'status-update', 'artifact-update'] as const
type Kind = (typeof wrappers)[number] | (typeof kinds)[number] | 'notification'

/** Of the RFCs' notifications those about reminders: that a task stops or goes on is in an ordinary frame. */
function notified(value: JsonObject, cursor: string): TaskFrame | undefined {
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

function readPart(value: Json): Part {
  const facts = partFacts(value, textIn(value, 'mediaType'), textIn(value, 'filename'))
  for (const name of ['text', 'raw', 'url'] as const) {
    const content = textIn(value, name)
    if (content !== undefined) return { [name]: content, ...facts } as Part
  }
  const data = memberOf(value, 'data')
  return { data: data === undefined ? value : data, ...facts }
}

function readPart03(value: Json): Part {
  const text = textIn(value, 'text')
  if (text !== undefined) return { text, ...partFacts(value) }
  const file = objectIn(value, 'file')
  if (file === undefined) {
    const data = memberOf(value, 'data')
    // The proto puts another `data` around it.
    const inner = textIn(value, 'kind') === undefined ? memberOf(data, 'data') : undefined
    return { data: inner ?? data ?? value, ...partFacts(value) }
  }
  const facts = partFacts(value, textIn(file, 'mimeType'), textIn(file, 'name'))
  const bytes = textIn(file, 'bytes') ?? textIn(file, 'fileWithBytes')
  if (bytes !== undefined) return { raw: bytes, ...facts }
  return { url: textIn(file, 'uri') ?? textIn(file, 'fileWithUri') ?? '', ...facts }
}

function partFacts(value: Json, mediaType?: string, filename?: string): PartFacts {
  const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text)
  return present<PartFacts>({
    mediaType: given(mediaType),
    filename: given(filename),
    metadata: objectIn(value, 'metadata'),
  })
}

function listed(texts: readonly string[]): readonly string[] | undefined {
  return texts.length === 0 ? undefined : texts
}
