/** A2A 1.0 (ProtoJSON). Messages and artifacts of `core` already have this shape. */

import type { Message, Part, PartDetails } from '../../../core/messages/message.ts'
import { artifactsWithResult } from '../../../core/messages/result-artifact.ts'
import type { PushTarget } from '../../../core/push.ts'
import type { State } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { message as messageInput } from '../../../engine/input/inputs.ts'
import { check } from '../../../engine/input/parse.ts'
import { checkTexts, invalid, isObject, optionalBoolean, type Params } from '../addresses/params.ts'
import type { Metadata } from '../dialects/harn.ts'
import { statusMessage } from '../metadata.ts'
import {
  type Codec,
  type NewestMessages,
  readHistoryLength,
  type SendConfiguration,
  type TaskView,
  wholeTask,
} from './codec.ts'
import { readTarget, taskIdOf } from './read-push.ts'
import { type EventSpelling, notificationOf, writeEvent } from './write-event.ts'

export interface V1Options {
  /**
   * The state shown to clients without the consent extension while a task waits for consent (§7.6).
   */
  readonly consentState: 'auth-required' | 'input-required'
  readonly newest: NewestMessages
}

/**
 * The name of each state. A stopped task is `WORKING`, so that streams stay open and no client asks
 * its user for input.
 */
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

export function createV1({ consentState, newest }: V1Options, facts: Metadata): Codec {
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
    const { id, contextId } = task
    const artifacts = withArtifacts ? artifactsWithResult(task) : []
    const metadata = facts.ofTask(task)
    const history = newest(task.history, historyLength)
    const wire: WireTask = { id, contextId, status: status(task, statusMessage(task)) }
    if (artifacts.length > 0) wire.artifacts = artifacts
    if (history.length > 0) wire.history = history
    if (metadata !== undefined) wire.metadata = metadata
    return wire
  }

  const spelling: EventSpelling = {
    hasReminderFrames: true,
    hasResult: true,
    artifact: (artifact) => artifact,
    status,
    taskFrame: (now) => ({ task: task(now, wholeTask) }),
    artifactFrame: (artifactUpdate) => ({ artifactUpdate }),
    statusFrame: (statusUpdate) => ({ statusUpdate }),
  }

  return {
    version: '1.0',
    name: '1.0',
    states: 'core',
    webhook: '1.0',
    readMessage: readMessage1,
    readConfiguration,
    readPush: (params) => ({ taskId: taskIdOf(params), target: readTarget(params, '') }),
    task,
    sentTask: (sent, view) => ({ task: task(sent, view) }),
    sentMessage: (message) => ({ message }),
    event: (event, closes) => writeEvent(event, closes, facts, spelling),
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

function readConfiguration(value: Params): SendConfiguration {
  checkTexts(value, 'acceptedOutputModes', 'configuration.acceptedOutputModes')
  const immediate = optionalBoolean(value, 'returnImmediately', 'configuration.returnImmediately')
  return {
    historyLength: readHistoryLength(value),
    immediate: immediate ?? false,
    push: readSendTarget(value),
  }
}

function readSendTarget(configuration: Params): PushTarget | undefined {
  const given = configuration['taskPushNotificationConfig']
  if (given === undefined || given === null) return undefined
  return readTarget(given, 'configuration.taskPushNotificationConfig')
}

/**
 * Writes a webhook without token and credentials, because somebody who may read the task must not
 * learn how to call its webhook.
 */
function push(taskId: string, { id, url, authentication }: PushTarget): object {
  const scheme = authentication?.scheme
  return { taskId, id, url, ...(scheme === undefined ? {} : { authentication: { scheme } }) }
}

/**
 * Reads messages of A2A 1.0. As in any ProtoJSON reader (§5.7), unknown members are dropped, and
 * `null` or `""` means absent.
 */
type IsAbsent = (member: unknown) => boolean
type Members = readonly (readonly [name: string, isAbsent: IsAbsent])[]

/** A part has exactly one of these members. */
type Content = Part extends infer P
  ? P extends Part
    ? Exclude<keyof P, keyof PartDetails>
    : never
  : never

const isNull: IsAbsent = (member) => member === null
const isNullOrEmpty: IsAbsent = (member) => member === null || member === ''

const messageMembers: Members = Object.entries({
  messageId: isNull,
  role: isNullOrEmpty,
  parts: isNullOrEmpty,
  contextId: isNullOrEmpty,
  taskId: isNullOrEmpty,
  referenceTaskIds: isNullOrEmpty,
  extensions: isNullOrEmpty,
  metadata: isNullOrEmpty,
} satisfies Record<keyof Message, IsAbsent>)

const partContents: Members = Object.entries({
  text: isNull,
  // `null` is a value of `data`, so it does not mean absent.
  data: () => false,
  raw: isNull,
  url: isNull,
} satisfies Record<Content, IsAbsent>)

const partMembers: Members = [
  ...partContents,
  ...Object.entries({
    mediaType: isNull,
    filename: isNull,
    metadata: isNull,
  } satisfies Record<keyof PartDetails, IsAbsent>),
]

function readMessage1(value: unknown): Message {
  if (!isObject(value)) return check(messageInput, value, 'message')
  const message = pick(value, messageMembers)
  const { parts } = message
  if (Array.isArray(parts)) message['parts'] = parts.map(readPart)
  return check(messageInput, message, 'message')
}

function readPart(value: unknown, index: number): unknown {
  if (!isObject(value)) return value
  const part = pick(value, partMembers)
  // Checked here, because the error of a schema with four alternatives would name the wrong member.
  if (partContents.filter(([name]) => name in part).length !== 1) {
    throw invalid(
      `message.parts.${index}`,
      'must have exactly one of text, data, raw (base64) or url',
    )
  }
  return part
}

/** Copies the known members that are present. */
function pick(value: Params, members: Members): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const [name, isAbsent] of members) {
    const member = value[name]
    if (member !== undefined && !isAbsent(member)) picked[name] = member
  }
  return picked
}
