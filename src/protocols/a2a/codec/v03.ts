/**
 * A2A 0.3 over JSON-RPC, with `kind` discriminators and `final`. With the names `rfc`, stopped
 * tasks have the states of the RFCs.
 */

import type { Artifact, Message } from '../../../core/messages/message.ts'
import type { PushTarget } from '../../../core/push.ts'
import { type PausedState, type State, states } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import { checkTexts, invalid, optionalBoolean, type Params } from '../addresses/params.ts'
import type { Metadata } from '../dialects/harn/harn-metadata.ts'
import { statusMessage } from '../metadata.ts'
import {
  type Codec,
  type SendConfiguration,
  type StateSpelling,
  type TaskView,
  wholeTask,
} from './codec.ts'
import { type NewestMessages, readHistoryLength } from './history-length.ts'
import { readTarget, taskIdOf } from './read-push.ts'
import { notificationOf } from './rfc-notifications.ts'
import { readMessage03, wireMessage, wirePart } from './v03-message.ts'
import { type EventSpelling, writeEvent } from './write-event.ts'

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
      artifacts: withArtifacts ? task.artifacts.map(wireArtifact) : [],
      ...(history.length > 0 ? { history: history.map(wireMessage) } : {}),
      ...(metadata === undefined ? {} : { metadata }),
    }
  }

  const spelling: EventSpelling = {
    hasReminderFrames: false,
    artifact: wireArtifact,
    status,
    taskFrame: (now) => task(now, wholeTask),
    artifactFrame: (update) => ({ kind: 'artifact-update', ...update }),
    statusFrame: (update, closes) => ({ kind: 'status-update', ...update, final: closes }),
  }

  return {
    version: '0.3',
    name: `0.3 ${words}`,
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
