/**
 * A2A 0.3 over REST. Requests are accepted in two forms: the text of the specification describes
 * JSON-RPC bodies (`kind`, lower-case states), while its SDKs send the ProtoJSON of its proto
 * (`content`, `TASK_STATE_…`). Answers are always ProtoJSON: official clients read nothing else,
 * and a GET request does not show which form its client uses.
 */

import type { Artifact, Message, Part } from '../../../core/messages/message.ts'
import { artifactsWithResult } from '../../../core/messages/result-artifact.ts'
import { type State, states } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import { isObject, type Params } from '../addresses/params.ts'
import type { Metadata } from '../dialects/harn.ts'
import { statusMessage } from '../metadata.ts'
import {
  type Codec,
  type NewestMessages,
  type StateSpelling,
  type TaskView,
  wholeTask,
} from './codec.ts'
import { objectOf, readMessage03 } from './v03.ts'
import { type EventSpelling, writeEvent } from './write-event.ts'

type StateNames = Readonly<Record<State, string>>

const coreNames: StateNames = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELLED',
  rejected: 'TASK_STATE_REJECTED',
  'paused-by-client': 'TASK_STATE_WORKING',
  'paused-by-agent': 'TASK_STATE_WORKING',
  'user-consent-required': 'TASK_STATE_INPUT_REQUIRED',
}

/**
 * The enum of the proto has no names for the states of the RFCs, so they are written as in the
 * RFCs.
 */
const stateNames: Readonly<Record<StateSpelling, StateNames>> = {
  core: coreNames,
  rfc: {
    ...coreNames,
    'paused-by-client': 'paused-by-client',
    'paused-by-agent': 'paused-by-agent',
    'user-consent-required': 'user-consent-required',
  },
}

/** Whether a request is written in ProtoJSON. */
export function isProto(params: Params): boolean {
  const message = params['message'] ?? params['request']
  if (!isObject(message)) return false
  const { content, role } = message
  return Array.isArray(content) || (typeof role === 'string' && role.startsWith('ROLE_'))
}

/** One codec per form of the request. Both write the same answers. */
export interface V03Rest {
  readonly kinds: Codec
  readonly proto: Codec
}

/** @param rpc the codec of JSON-RPC, which reads the first form */
export function createV03Rest(
  rpc: Codec,
  words: StateSpelling,
  facts: Metadata,
  newest: NewestMessages,
): V03Rest {
  const kinds: Codec = {
    ...rpc,
    ...createWriter(words, facts, newest),
    name: `${rpc.name} REST`,
    sentMessage: (message) => ({ message: protoMessage(message) }),
    readPush: (params) => rpc.readPush(unwrapped(params)),
    push: (taskId, target) => ({
      name: `tasks/${taskId}/pushNotificationConfigs/${target.id}`,
      pushNotificationConfig: configOf(rpc.push(taskId, target)),
    }),
    pushList: (taskId, targets) => ({
      configs: targets.map((target) => kinds.push(taskId, target)),
      nextPageToken: '',
    }),
    statesOf: (wire) => statesNamed(stateNames[words], wire) ?? rpc.statesOf(wire),
  }
  const proto: Codec = {
    ...kinds,
    readMessage: readProtoMessage,
    // ProtoJSON omits false values, so a missing `blocking` means "do not block".
    readConfiguration: (value) => ({
      ...rpc.readConfiguration(value),
      immediate: value['blocking'] !== true,
    }),
  }
  return { kinds, proto }
}

/** The states that a filter matches. It may use a name of this proto or of a later version. */
function statesNamed(names: StateNames, wire: string): readonly State[] | undefined {
  const name = wire === 'TASK_STATE_CANCELED' ? coreNames.canceled : wire
  const found = states.filter((state) => names[state] === name || coreNames[state] === name)
  return found.length === 0 ? undefined : found
}

/**
 * The config in a request of the proto, which is `{parent, configId, config: {name,
 * pushNotificationConfig}}`. The Python SDK sends all of it.
 */
function unwrapped(params: Params): Params {
  const { config } = params
  const inner = isObject(config) ? config['pushNotificationConfig'] : undefined
  return inner === undefined ? params : { ...params, pushNotificationConfig: inner }
}

/**
 * The config in an answer. `taskId` is left out, because the proto does not have it and the Python
 * SDK rejects unknown names; `name` contains the task id.
 */
function configOf(push: object): unknown {
  return 'pushNotificationConfig' in push ? push.pushNotificationConfig : undefined
}

function createWriter(
  words: StateSpelling,
  facts: Metadata,
  newest: NewestMessages,
): Pick<Codec, 'task' | 'sentTask' | 'event'> {
  const names = stateNames[words]
  const hasResult = words === 'core'
  const artifactsOf = (task: Task): readonly Artifact[] =>
    hasResult ? artifactsWithResult(task) : task.artifacts

  function status(task: Task, message: Message | undefined): object {
    return {
      state: names[task.state],
      ...(message === undefined ? {} : { message: protoMessage(message) }),
      timestamp: toIso(task.statusAt),
    }
  }

  function task(task: Task, { historyLength, withArtifacts }: TaskView): object {
    const metadata = facts.ofTask(task)
    return {
      id: task.id,
      contextId: task.contextId,
      status: status(task, statusMessage(task)),
      artifacts: withArtifacts ? artifactsOf(task).map(protoArtifact) : [],
      history: newest(task.history, historyLength).map(protoMessage),
      ...(metadata === undefined ? {} : { metadata }),
    }
  }

  const spelling: EventSpelling = {
    hasReminderFrames: false,
    hasResult,
    artifact: protoArtifact,
    status,
    taskFrame: (now) => ({ task: task(now, wholeTask) }),
    artifactFrame: (artifactUpdate) => ({ artifactUpdate }),
    statusFrame: (update, closes) => ({ statusUpdate: { ...update, final: closes } }),
  }

  return {
    task,
    sentTask: (sent, view) => ({ task: task(sent, view) }),
    event: (event, closes) => writeEvent(event, closes, facts, spelling),
  }
}

const protoRoles: Readonly<Record<string, string>> = { ROLE_USER: 'user', ROLE_AGENT: 'agent' }

/** Converts the message to the form of JSON-RPC, so that one reader handles both. */
function readProtoMessage(value: unknown): Message {
  if (!isObject(value)) return readMessage03(value)
  const { content, parts, role, ...rest } = value
  const given = content ?? parts
  return readMessage03({
    ...Object.fromEntries(Object.entries(rest).filter(([, member]) => member !== '')),
    role: typeof role === 'string' ? (protoRoles[role] ?? role) : role,
    parts: Array.isArray(given) ? given.map(readProtoPart) : given,
  })
}

function readProtoPart(value: unknown): unknown {
  if (!isObject(value)) return value
  const { file, data, ...rest } = value
  if (isObject(file)) {
    const { fileWithBytes, fileWithUri, ...about } = file
    const bytes = fileWithBytes === undefined ? {} : { bytes: fileWithBytes }
    const uri = fileWithUri === undefined ? {} : { uri: fileWithUri }
    return { ...rest, file: { ...about, ...bytes, ...uri } }
  }
  if (data === undefined) return value
  return { ...rest, data: isObject(data) && 'data' in data ? data['data'] : data }
}

/** Writes a message. `referenceTaskIds` is left out, because this proto does not have it. */
function protoMessage({ role, parts, referenceTaskIds: _, ...message }: Message): object {
  return { ...message, role, content: parts.map(protoPart) }
}

function protoArtifact({ parts, ...artifact }: Artifact): object {
  return { ...artifact, parts: parts.map(protoPart) }
}

/**
 * Writes a part. The name of a file is left out, because the proto of 0.3 has no field for it and
 * strict readers fail on unknown fields.
 */
function protoPart(part: Part): object {
  const { metadata, mediaType } = part
  const facts = metadata === undefined ? {} : { metadata }
  if ('text' in part) return { text: part.text, ...facts }
  if ('data' in part) return { data: { data: objectOf(part.data) }, ...facts }
  return {
    file: {
      ...('raw' in part ? { fileWithBytes: part.raw } : { fileWithUri: part.url }),
      ...(mediaType === undefined ? {} : { mimeType: mediaType }),
    },
    ...facts,
  }
}
