/**
 * A2A 0.3 over JSON-RPC, with `kind` discriminators and `final`. With the names `rfc`, stopped
 * tasks have the states of the RFCs.
 */

import type { Artifact, Message, Part } from '../../../core/messages/message.ts'
import { artifactsWithResult } from '../../../core/messages/result-artifact.ts'
import type { PushTarget } from '../../../core/push.ts'
import { type PausedState, type State, states } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { message as messageInput } from '../../../engine/input/inputs.ts'
import { check } from '../../../engine/input/parse.ts'
import {
  checkTexts,
  invalid,
  isObject,
  optionalBoolean,
  optionalText,
  type Params,
} from '../addresses/params.ts'
import type { Metadata } from '../dialects/harn.ts'
import { statusMessage } from '../metadata.ts'
import {
  type Codec,
  type NewestMessages,
  readHistoryLength,
  type SendConfiguration,
  type StateSpelling,
  type TaskView,
  wholeTask,
} from './codec.ts'
import { readTarget, taskIdOf } from './read-push.ts'
import { type EventSpelling, notificationOf, writeEvent } from './write-event.ts'

/** The states of the 0.3 specification. */
type CoreState = Exclude<State, PausedState | 'user-consent-required'>

const coreStates: Readonly<Record<State, CoreState>> = {
  'paused-by-client': 'working',
  'paused-by-agent': 'working',
  'user-consent-required': 'input-required',

  submitted: 'submitted',
  working: 'working',
  'input-required': 'input-required',
  'auth-required': 'auth-required',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
  rejected: 'rejected',
}

/**
 * @param words `core`: only states of the 0.3 specification are used. In both cases the metadata
 * has the exact state.
 */
export function createV03(words: StateSpelling, facts: Metadata, newest: NewestMessages): Codec {
  const spelled = (state: State): string => (words === 'core' ? coreStates[state] : state)

  const hasResult = words === 'core'
  const artifactsOf = (task: Task): readonly Artifact[] =>
    hasResult ? artifactsWithResult(task) : task.artifacts

  function status(task: Task, message: Message | undefined): object {
    const state = spelled(task.state)
    const timestamp = toIso(task.statusAt)
    return message === undefined
      ? { state, timestamp }
      : { state, message: wireMessage(message), timestamp }
  }

  function task(task: Task, { historyLength, withArtifacts }: TaskView): object {
    const metadata = facts.ofTask(task)
    const history = newest(task.history, historyLength)
    return {
      kind: 'task',
      id: task.id,
      contextId: task.contextId,
      status: status(task, statusMessage(task)),
      artifacts: withArtifacts ? artifactsOf(task).map(wireArtifact) : [],
      ...(history.length > 0 ? { history: history.map(wireMessage) } : {}),
      ...(metadata === undefined ? {} : { metadata }),
    }
  }

  const spelling: EventSpelling = {
    hasReminderFrames: false,
    hasResult,
    artifact: wireArtifact,
    status,
    taskFrame: (now) => task(now, wholeTask),
    artifactFrame: (update) => ({ kind: 'artifact-update', ...update }),
    statusFrame: (update, closes) => ({ kind: 'status-update', ...update, final: closes }),
  }

  return {
    version: '0.3',
    name: `0.3 ${words}`,
    states: words,
    webhook: words === 'core' ? '0.3-core' : '0.3',
    readMessage: readMessage03,
    readConfiguration,
    readPush,
    task,
    sentTask: task,
    sentMessage: wireMessage,
    event: (event, closes) => writeEvent(event, closes, facts, spelling),
    notification: notificationOf,
    push,
    pushList: (taskId, targets) => targets.map((target) => push(taskId, target)),
    statesOf(wire) {
      const given = wire === 'cancelled' ? 'canceled' : wire
      const found = states.filter((state) => spelled(state) === given)
      return found.length === 0 ? undefined : found
    },
  }
}

function readConfiguration(value: Params): SendConfiguration {
  checkTexts(value, 'acceptedOutputModes', 'configuration.acceptedOutputModes')
  return {
    historyLength: readHistoryLength(value),
    immediate: optionalBoolean(value, 'blocking', 'configuration.blocking') === false,
    push: readSendTarget(value),
  }
}

function readPush(params: Params): ReturnType<Codec['readPush']> {
  const config = params['pushNotificationConfig'] ?? params['config']
  if (config === undefined || config === null) {
    throw invalid('pushNotificationConfig', 'is required')
  }
  return { taskId: taskIdOf(params), target: readTarget(config, 'pushNotificationConfig') }
}

function readSendTarget(configuration: Params): PushTarget | undefined {
  // The second name is the one in the 0.3 proto.
  const given = configuration['pushNotificationConfig'] ?? configuration['pushNotification']
  if (given === undefined || given === null) return undefined
  return readTarget(given, 'configuration.pushNotificationConfig')
}

function wireArtifact({ parts, ...artifact }: Artifact): object {
  return { ...artifact, parts: parts.map(wirePart) }
}

/**
 * Writes a webhook without token and credentials, because somebody who may read the task must not
 * learn how to call its webhook.
 */
function push(taskId: string, { id, url, authentication }: PushTarget): object {
  const scheme = authentication?.scheme
  const known = scheme === undefined ? {} : { authentication: { schemes: [scheme] } }
  return { taskId, pushNotificationConfig: { id, url, ...known } }
}

/** Messages and parts of A2A 0.3. `kind` may be missing, because the examples of the RFCs omit it. */
const roles: Readonly<Record<string, string>> = { user: 'ROLE_USER', agent: 'ROLE_AGENT' }

export function readMessage03(value: unknown): Message {
  if (!isObject(value)) return check(messageInput, value, 'message')
  if ((value['kind'] ?? 'message') !== 'message') throw invalid('message.kind', 'must be message')
  const message: Record<string, unknown> = {}
  for (const [name, given] of Object.entries(value)) {
    if (given !== null && name !== 'kind') message[name] = given
  }
  const { role, parts } = message
  // An unknown role is passed to the schema, which rejects it. The names of 1.0 are unknown in 0.3.
  message['role'] = typeof role === 'string' ? (roles[role] ?? `unknown role ${role}`) : role
  if (Array.isArray(parts)) message['parts'] = parts.map(readPart03)
  return check(messageInput, message, 'message')
}

const kinds: ReadonlySet<unknown> = new Set(['text', 'data', 'file'])

/**
 * The kind of a part. Before 0.2.1 `kind` was called `type`. If both are missing, the members of
 * the part decide.
 */
function kindOf(part: Params, path: string): unknown {
  const name = part['kind'] === undefined || part['kind'] === null ? 'type' : 'kind'
  const given = part[name] ?? undefined
  if (given === undefined) return ['text', 'data', 'file'].find((kind) => kind in part)
  if (kinds.has(given)) return given
  throw invalid(`${path}.${name}`, 'must be text, data or file')
}

function readPart03(value: unknown, index: number): unknown {
  if (!isObject(value)) return value
  const path = `message.parts.${index}`
  const kind = kindOf(value, path)
  const { text, data, file, metadata } = value
  const facts = metadata === undefined || metadata === null ? {} : { metadata }
  if (kind === 'text' && text !== undefined) return { text, ...facts }
  if (kind === 'data' && data !== undefined) return { data, ...facts }
  if (kind !== 'file' || !isObject(file)) {
    throw invalid(path, 'must be a part with text, data or file, as its kind says')
  }
  const { bytes, uri } = file
  const filename = optionalText(file, 'name', `${path}.file.name`)
  const mediaType = optionalText(file, 'mimeType', `${path}.file.mimeType`)
  return {
    ...(bytes === undefined || bytes === null ? {} : { raw: bytes }),
    ...(uri === undefined || uri === null ? {} : { url: uri }),
    ...(filename === undefined ? {} : { filename }),
    ...(mediaType === undefined ? {} : { mediaType }),
    ...facts,
  }
}

function wireMessage({ role, parts, ...message }: Message): object {
  return {
    kind: 'message',
    ...message,
    role: role === 'ROLE_USER' ? 'user' : 'agent',
    parts: parts.map(wirePart),
  }
}

export function wirePart(part: Part): object {
  const { metadata } = part
  const facts = metadata === undefined ? {} : { metadata }
  if ('text' in part) return { kind: 'text', text: part.text, ...facts }
  if ('data' in part) return { kind: 'data', data: objectOf(part.data), ...facts }
  const { filename, mediaType } = part
  return {
    kind: 'file',
    file: {
      ...(filename === undefined ? {} : { name: filename }),
      ...(mediaType === undefined ? {} : { mimeType: mediaType }),
      ...('raw' in part ? { bytes: part.raw } : { uri: part.url }),
    },
    ...facts,
  }
}

/** Makes data an object, as 0.3 requires. In 1.0 it can be any value. */
export function objectOf(data: unknown): JsonObject {
  return isObject(data) ? (data as JsonObject) : ({ value: data } as JsonObject)
}
