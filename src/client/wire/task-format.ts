/**
 * Reads what a peer sends. The two spellings of 0.3 (JSON-RPC has `kind`, REST has the names of the proto) are both read,
 * because one peer may use both.
 */
import type { JsonObject } from '../../core/json.ts'
import { notA2A } from '../client-error.ts'
import { createFrameReader } from '../read-frames.ts'
import type { MessageFrame, SnapshotFrame, Task, TaskFrame, TaskPage } from '../tasks/task-types.ts'
import type { Version } from '../version.ts'
import { extendedState, stateOf } from './extension-metadata.ts'
import { isObject, listIn, memberOf, objectIn, textIn } from './json-members.ts'
import { createContentReader } from './message-format.ts'

export interface WireReader {
  task(value: unknown): Task
  /** The answer to a send. */
  sent(value: unknown): SnapshotFrame | MessageFrame
  /** A frame of a stream; undefined for one that says nothing new. */
  frame(value: unknown, cursor: string): TaskFrame | undefined
  page(value: unknown): TaskPage
}

export function createWireReader(version: Version): WireReader {
  const content = createContentReader(version)
  const { message, artifact, status } = content
  const frames = createFrameReader(version, content)

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
      ...extendedState(state, metadata),
    }
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

/** 1.0 and REST of 0.3 wrap the value, JSON-RPC of 0.3 has `kind`, and the notifications of the RFCs have a `method`. */
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
