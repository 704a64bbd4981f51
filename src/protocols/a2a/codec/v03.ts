/** A2A 0.3, in the words of the RFCs: `kind` discriminators, `final`, and states that say how a task is stopped. */
import { toIso } from '../../../core/instant.ts'
import type { Artifact, Message } from '../../../core/message.ts'
import type { PushTarget } from '../../../core/push.ts'
import { type State, states } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { isTunnelled, type Metadata } from '../harn/harn-metadata.ts'
import { eventMessage, statusMessage } from '../metadata.ts'
import { invalid, optionalBoolean, optionalInteger, type Params } from '../params.ts'
import type { TaskEvent } from '../task-events.ts'
import type { Codec, StateWords, TaskView } from './codec.ts'
import { wholeTask } from './codec.ts'
import { readTarget, taskIdOf } from './read-push.ts'
import { notificationOf } from './rfc-notifications.ts'
import { newest } from './v1.ts'
import { readMessage03, wireMessage, wirePart } from './v03-message.ts'

const coreStates: Partial<Readonly<Record<State, string>>> = {
  'paused-by-client': 'working',
  'paused-by-agent': 'working',
  'user-consent-required': 'input-required',
}

/** @param words `core`: only states that a strict 0.3 client knows; the metadata has the exact state all the same */
export function createV03(words: StateWords, facts: Metadata): Codec {
  const spelled = (state: State): string =>
    (words === 'core' ? coreStates[state] : undefined) ?? state

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

  function event(event: TaskEvent, closes: boolean): object | undefined {
    const { task: now } = event
    const { id: taskId, contextId } = now
    if (event.kind === 'reminder' && !isTunnelled(facts, event)) return undefined
    if (event.kind === 'artifact') {
      const { append, last } = event
      const artifact = wireArtifact(event.artifact)
      const metadata = facts.ofEvent(event)
      const update = {
        kind: 'artifact-update',
        taskId,
        contextId,
        artifact,
        append,
        lastChunk: last,
      }
      return metadata === undefined ? update : { ...update, metadata }
    }
    if (event.kind === 'status' && event.record.type === 'submitted') return task(now, wholeTask)
    const metadata = facts.ofEvent(event)
    return {
      kind: 'status-update',
      taskId,
      contextId,
      status: status(now, event.kind === 'reminder' ? undefined : eventMessage(event)),
      final: closes,
      ...(metadata === undefined ? {} : { metadata }),
    }
  }

  return {
    version: '0.3',
    name: `0.3 ${words}`,
    webhook: words === 'core' ? '0.3-core' : '0.3',
    readMessage: readMessage03,
    readConfiguration: (value) => ({
      historyLength: optionalInteger(
        value,
        'historyLength',
        { min: 0 },
        'configuration.historyLength',
      ),
      immediate: optionalBoolean(value, 'blocking', 'configuration.blocking') === false,
      push: readSendTarget(value),
    }),
    readPush(params) {
      const config = params['pushNotificationConfig'] ?? params['config']
      if (config === undefined || config === null) {
        throw invalid('pushNotificationConfig', 'is required')
      }
      const target = readTarget(config, 'pushNotificationConfig')
      return { taskId: taskIdOf(params), target }
    },
    task,
    sentTask: task,
    sentMessage: wireMessage,
    event,
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

function readSendTarget(configuration: Params): PushTarget | undefined {
  // The proto of 0.3 calls it by its second name.
  const given = configuration['pushNotificationConfig'] ?? configuration['pushNotification']
  if (given === undefined || given === null) return undefined
  return readTarget(given, 'configuration.pushNotificationConfig')
}

function wireArtifact({ parts, ...artifact }: Artifact): object {
  return { ...artifact, parts: parts.map(wirePart) }
}

function push(taskId: string, { id, url, token, authentication }: PushTarget): object {
  const { scheme, credentials } = authentication ?? {}
  return {
    taskId,
    pushNotificationConfig: {
      id,
      url,
      ...(token === undefined ? {} : { token }),
      ...(scheme === undefined
        ? {}
        : {
            authentication: {
              schemes: [scheme],
              ...(credentials === undefined ? {} : { credentials }),
            },
          }),
    },
  }
}
