/**
 * A2A 0.3 shapes to and from the neutral (1.0) ones. 0.3 has two spellings of its own: the JSON of its JSON-RPC binding
 * (`kind`, lower-case states) and the ProtoJSON of its REST binding (`content`, `TASK_STATE_CANCELLED`). Reading accepts both.
 */
import type { Operation } from '../model.ts'
import { at, isObject, list, type Obj } from '../values.ts'

const ROLES: Readonly<Record<string, string>> = { ROLE_USER: 'user', ROLE_AGENT: 'agent' }
const ROLES_BACK: Readonly<Record<string, string>> = { user: 'ROLE_USER', agent: 'ROLE_AGENT' }

/** Leaves out what is undefined, so that "absent" stays absent. */
function compact(value: Obj): Obj {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined))
}

// ── to 0.3, JSON-RPC ──

export function toV03Params(operation: Operation, args: Obj): Obj {
  if (operation === 'send' || operation === 'stream') {
    const { message, configuration, ...rest } = args
    return compact({
      ...rest,
      message: isObject(message) ? toMessage(message) : message,
      configuration: toConfiguration(operation, configuration),
    })
  }
  if (operation === 'pushCreate') {
    const { taskId, ...config } = args
    return { taskId, pushNotificationConfig: toPushConfig(config) }
  }
  if (operation === 'pushGet' || operation === 'pushDelete') {
    return { id: args['taskId'], pushNotificationConfigId: args['id'] }
  }
  if (operation === 'pushList') return { id: args['taskId'] }
  return args
}

function toMessage(message: Obj): Obj {
  const role = message['role']
  return {
    kind: 'message',
    ...message,
    ...(typeof role === 'string' ? { role: ROLES[role] ?? role } : {}),
    ...(message['parts'] === undefined ? {} : { parts: list(message['parts']).map(toPart) }),
  }
}

function toPart(part: unknown): unknown {
  if (!isObject(part)) return part
  const { text, raw, url, data, filename, mediaType, ...rest } = part
  if (text !== undefined) return { kind: 'text', text, ...rest }
  if (data !== undefined) return { kind: 'data', data, ...rest }
  const file = compact({ bytes: raw, uri: url, name: filename, mimeType: mediaType })
  return { kind: 'file', file, ...rest }
}

/** 0.3 leaves the default of `blocking` open, so a send always says which it wants. */
function toConfiguration(operation: Operation, configuration: unknown): unknown {
  if (!isObject(configuration)) return operation === 'send' ? { blocking: true } : undefined
  const { returnImmediately, taskPushNotificationConfig, ...rest } = configuration
  return compact({
    ...rest,
    blocking: operation === 'send' ? returnImmediately !== true : undefined,
    pushNotificationConfig: isObject(taskPushNotificationConfig)
      ? toPushConfig(taskPushNotificationConfig)
      : undefined,
  })
}

function toPushConfig(config: Obj): Obj {
  const { authentication, ...rest } = config
  if (!isObject(authentication)) return rest
  const { scheme, ...other } = authentication
  return { ...rest, authentication: { schemes: [scheme], ...other } }
}

// ── to 0.3, REST (ProtoJSON of the 0.3 proto) ──

export function toV03Proto(operation: Operation, args: Obj, rest: Obj): Obj {
  if (operation === 'send' || operation === 'stream') {
    const { message, configuration, ...others } = rest
    const settings = toConfiguration(operation, configuration)
    return compact({
      ...others,
      message: isObject(message) ? toProtoMessage(message) : message,
      configuration: isObject(settings) ? renamePush(settings) : settings,
    })
  }
  if (operation === 'pushCreate') {
    const { taskId, ...config } = args
    const id = config['id'] ?? 'default'
    return {
      name: `tasks/${String(taskId)}/pushNotificationConfigs/${String(id)}`,
      pushNotificationConfig: { ...toPushConfig(config), id },
    }
  }
  return rest
}

function renamePush(settings: Obj): Obj {
  const { pushNotificationConfig, ...others } = settings
  return compact({ ...others, pushNotification: pushNotificationConfig })
}

function toProtoMessage(message: Obj): Obj {
  const { parts, ...rest } = message
  return compact({ ...rest, content: parts === undefined ? undefined : list(parts).map(protoPart) })
}

function protoPart(part: unknown): unknown {
  if (!isObject(part)) return part
  const { text, raw, url, data, filename, mediaType, ...rest } = part
  if (text !== undefined) return { text, ...rest }
  if (data !== undefined) return { data: { data }, ...rest }
  const file = { fileWithBytes: raw, fileWithUri: url, name: filename, mimeType: mediaType }
  return { file: compact(file), ...rest }
}

// ── from 0.3 ──

export function fromV03(operation: Operation, value: unknown): unknown {
  if (operation === 'get' || operation === 'cancel') return fromTask(value)
  if (operation === 'list') return fromList(value)
  if (operation === 'pushCreate' || operation === 'pushGet') return fromPush(value)
  if (operation === 'pushList') {
    const configs = Array.isArray(value) ? value : at(value, 'configs')
    return { configs: list(configs).map(fromPush) }
  }
  if (operation === 'send' || operation === 'stream' || operation === 'subscribe') {
    return fromEvent(value)
  }
  return value
}

const KINDS: Readonly<Record<string, string>> = {
  task: 'task',
  message: 'message',
  'status-update': 'statusUpdate',
  'artifact-update': 'artifactUpdate',
}
const READERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  task: fromTask,
  message: fromMessage,
  msg: fromMessage,
  statusUpdate: fromStatusUpdate,
  artifactUpdate: fromArtifactUpdate,
}

function fromEvent(value: unknown): unknown {
  if (!isObject(value)) return value
  const kind = KINDS[String(value['kind'])]
  if (kind !== undefined) return { [kind]: READERS[kind]?.(value) }
  for (const [member, read] of Object.entries(READERS)) {
    if (value[member] === undefined) continue
    return { [member === 'msg' ? 'message' : member]: read(value[member]) }
  }
  return value
}

function fromList(value: unknown): unknown {
  if (Array.isArray(value)) return { tasks: value.map(fromTask) }
  return isObject(value) ? { ...value, tasks: list(value['tasks']).map(fromTask) } : value
}

function fromTask(value: unknown): unknown {
  if (!isObject(value)) return value
  const { kind: _kind, status, history, artifacts, ...rest } = value
  return compact({
    ...rest,
    status: fromStatus(status),
    history: history === undefined ? undefined : list(history).map(fromMessage),
    artifacts: artifacts === undefined ? undefined : list(artifacts).map(fromArtifact),
  })
}

function fromStatus(value: unknown): unknown {
  if (!isObject(value)) return value
  const { state, message, update, ...rest } = value
  const said = message ?? update
  return compact({
    ...rest,
    state: stateName(state),
    message: said === undefined ? undefined : fromMessage(said),
  })
}

function stateName(state: unknown): unknown {
  if (typeof state !== 'string') return state
  const name = state.startsWith('TASK_STATE_')
    ? state
    : `TASK_STATE_${state.replaceAll('-', '_').toUpperCase()}`
  return name === 'TASK_STATE_CANCELLED' ? 'TASK_STATE_CANCELED' : name
}

function fromMessage(value: unknown): unknown {
  if (!isObject(value)) return value
  const { kind: _kind, role, parts, content, ...rest } = value
  return compact({
    ...rest,
    role: ROLES_BACK[String(role)] ?? role,
    parts: list(parts ?? content).map(fromPart),
  })
}

function fromPart(value: unknown): unknown {
  if (!isObject(value)) return value
  const { kind, file, data, ...rest } = value
  if (isObject(file)) {
    return compact({
      ...rest,
      raw: file['bytes'] ?? file['fileWithBytes'],
      url: file['uri'] ?? file['fileWithUri'],
      filename: file['name'],
      mediaType: file['mimeType'],
    })
  }
  if (data === undefined) return rest
  return { ...rest, data: kind === undefined ? (at(data, 'data') ?? data) : data }
}

function fromArtifact(value: unknown): unknown {
  if (!isObject(value)) return value
  return { ...value, parts: list(value['parts']).map(fromPart) }
}

function fromStatusUpdate(value: unknown): unknown {
  if (!isObject(value)) return value
  const { kind: _kind, final: _final, status, ...rest } = value
  return { ...rest, status: fromStatus(status) }
}

function fromArtifactUpdate(value: unknown): unknown {
  if (!isObject(value)) return value
  const { kind: _kind, artifact, ...rest } = value
  return { ...rest, artifact: fromArtifact(artifact) }
}

function fromPush(value: unknown): unknown {
  if (!isObject(value)) return value
  const { taskId, name, pushNotificationConfig } = value
  const config = isObject(pushNotificationConfig) ? pushNotificationConfig : {}
  const { authentication, ...rest } = config
  const schemes = list(at(authentication, 'schemes'))
  return compact({
    taskId: taskId ?? (typeof name === 'string' ? name.split('/')[1] : undefined),
    ...rest,
    authentication: isObject(authentication)
      ? { scheme: schemes[0], credentials: authentication['credentials'] }
      : undefined,
  })
}
