/** A2A 1.0 (ProtoJSON). Core keeps messages and artifacts in this shape, so most of it is handing them on. */
import { toIso } from '../../../core/instant.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Message } from '../../../core/message.ts'
import type { PushTarget } from '../../../core/push.ts'
import type { State } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { message as messageInput } from '../../../engine/inputs.ts'
import { parse } from '../../../engine/parse.ts'
import type { Metadata } from '../harn/harn-metadata.ts'
import { eventMessage, statusMessage } from '../metadata.ts'
import { invalid, isObject, optionalBoolean, optionalInteger, type Params } from '../params.ts'
import type { TaskEvent } from '../task-events.ts'
import type { Codec, TaskView } from './codec.ts'
import { wholeTask } from './codec.ts'
import { readTarget, taskIdOf } from './read-push.ts'
import { notificationOf } from './rfc-notifications.ts'

export interface V1Options {
  /** What readers who do not know consent see: a question of authorisation (§7.6), or one of input. */
  readonly consentState: 'auth-required' | 'input-required'
}

/** Stopped tasks are working tasks to core readers: streams stay open and nobody is asked anything. */
const wireStates: Readonly<Record<State, string>> = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
  'user-consent-required': 'TASK_STATE_AUTH_REQUIRED',
  'paused-by-client': 'TASK_STATE_WORKING',
  'paused-by-agent': 'TASK_STATE_WORKING',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
  rejected: 'TASK_STATE_REJECTED',
}

interface WireTask extends Pick<Task, 'id' | 'contextId'> {
  status: object
  artifacts?: Task['artifacts']
  history?: Task['history']
  metadata?: JsonObject
}

export function createV1({ consentState }: V1Options, facts: Metadata): Codec {
  const spelled = {
    ...wireStates,
    'user-consent-required': wireStates[consentState],
  }

  function status(task: Task, message: Message | undefined): object {
    const state = spelled[task.state]
    const timestamp = toIso(task.statusAt)
    return message === undefined ? { state, timestamp } : { state, message, timestamp }
  }

  function task(task: Task, { historyLength, withArtifacts }: TaskView): object {
    const { id, contextId, artifacts } = task
    const metadata = facts.ofTask(task)
    const history = newest(task.history, historyLength)
    const wire: WireTask = { id, contextId, status: status(task, statusMessage(task)) }
    if (withArtifacts && artifacts.length > 0) wire.artifacts = artifacts
    if (history.length > 0) wire.history = history
    if (metadata !== undefined) wire.metadata = metadata
    return wire
  }

  function event(event: TaskEvent): object {
    const { task: now } = event
    const { id: taskId, contextId } = now
    if (event.kind === 'artifact') {
      const { artifact, append, last } = event
      const metadata = facts.ofEvent(event)
      const beside = metadata === undefined ? {} : { metadata }
      return {
        artifactUpdate: { taskId, contextId, artifact, append, lastChunk: last, ...beside },
      }
    }
    if (event.kind === 'status' && event.record.type === 'submitted') {
      return { task: task(now, wholeTask) }
    }
    const metadata = facts.ofEvent(event)
    const message = event.kind === 'reminder' ? undefined : eventMessage(event)
    return {
      statusUpdate: {
        taskId,
        contextId,
        status: status(now, message),
        ...(metadata === undefined ? {} : { metadata }),
      },
    }
  }

  return {
    version: '1.0',
    name: '1.0',
    webhook: '1.0',
    readMessage,
    readConfiguration: (value) => ({
      historyLength: optionalInteger(
        value,
        'historyLength',
        { min: 0 },
        'configuration.historyLength',
      ),
      immediate:
        optionalBoolean(value, 'returnImmediately', 'configuration.returnImmediately') ?? false,
      push: readSendTarget(value),
    }),
    readPush: (params) => ({ taskId: taskIdOf(params), target: readTarget(params, '') }),
    task,
    sentTask: (sent, view) => ({ task: task(sent, view) }),
    sentMessage: (message) => ({ message }),
    event,
    notification: notificationOf,
    push,
    pushList: (taskId, targets) => ({
      configs: targets.map((target) => push(taskId, target)),
      nextPageToken: '',
    }),
    statesOf(wire) {
      const found = (Object.keys(spelled) as State[]).filter((state) => spelled[state] === wire)
      return found.length === 0 ? undefined : found
    },
  }
}

export function newest(
  history: readonly Message[],
  length: number | undefined,
): readonly Message[] {
  if (length === undefined || length >= history.length) return history
  return length === 0 ? [] : history.slice(-length)
}

function readSendTarget(configuration: Params): PushTarget | undefined {
  const given = configuration['taskPushNotificationConfig']
  if (given === undefined || given === null) return undefined
  return readTarget(given, 'configuration.taskPushNotificationConfig')
}

function push(taskId: string, { id, url, token, authentication }: PushTarget): object {
  return {
    taskId,
    id,
    url,
    ...(token === undefined ? {} : { token }),
    ...(authentication === undefined ? {} : { authentication }),
  }
}

const partNames: ReadonlySet<string> = new Set([
  'text',
  'data',
  'raw',
  'url',
  'mediaType',
  'filename',
  'metadata',
])

/** Unknown members are dropped and `null` or `""` means absent, as for any ProtoJSON reader (§5.7). */
function readMessage(value: unknown): Message {
  if (!isObject(value)) return parse(messageInput, value, 'message')
  const members = Object.entries(value).filter(([name, member]) => !isAbsent(name, member))
  const { parts, ...rest } = Object.fromEntries(members)
  const read = Array.isArray(parts) ? parts.map(readPart) : parts
  return parse(messageInput, { ...rest, parts: read }, 'message')
}

function isAbsent(name: string, value: unknown): boolean {
  return value === null || (value === '' && name !== 'messageId')
}

const contents: ReadonlySet<string> = new Set(['text', 'data', 'raw', 'url'])

function readPart(value: unknown, index: number): unknown {
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([name, member]) => isPartMember(name, member))
  // Checked here, because a union of four schemas would name the wrong one.
  if (members.filter(([name]) => contents.has(name)).length !== 1) {
    throw invalid(
      `message.parts.${index}`,
      'must have exactly one of text, data, raw (base64) or url',
    )
  }
  return Object.fromEntries(members)
}

/** `null` is a value only where the part is data. */
function isPartMember(name: string, value: unknown): boolean {
  return partNames.has(name) && (value !== null || name === 'data')
}
