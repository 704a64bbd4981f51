/**
 * The differences between the versions of A2A: how messages are read, and how tasks, events and
 * push configs are written.
 */

import type { Message } from '../../../core/messages/message.ts'
import type { PushTarget } from '../../../core/push.ts'
import type { State } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { weightOf } from '../../../core/values/weight.ts'
import { optionalInteger, type Params } from '../addresses/params.ts'
import type { Version } from '../addresses/versions.ts'
import type { RfcNotification } from '../schemas/rfc-notifications.ts'
import type { TaskEvent } from '../streams/task-events.ts'

/** Which parts of a task a caller asked for. */
export interface TaskView {
  /** The most messages, the newest ones. Undefined: all messages. */
  readonly historyLength?: number | undefined
  readonly withArtifacts: boolean
}

export const wholeTask: TaskView = { withArtifacts: true }

export interface SendConfiguration {
  readonly historyLength?: number | undefined
  readonly immediate: boolean
  readonly push?: PushTarget | undefined
}

/**
 * How A2A 0.3 names the states that its specification does not have: `rfc`, as the RFCs name them;
 * `core`, as the standard state that they refine.
 */
export type StateSpelling = 'rfc' | 'core'

/**
 * The shapes of a webhook's bodies. The shape is chosen when the webhook is created, and stored
 * with it.
 */
export const webhookShapes = ['1.0', '0.3', '0.3-core', '0.3-bindu'] as const
export type WebhookShape = (typeof webhookShapes)[number]

export interface Codec {
  readonly version: Version
  /** Unique among the codecs of all versions. */
  readonly name: string
  /** `rfc`: stopped tasks are visible in `status.state`. Otherwise only the metadata tells. */
  readonly states: StateSpelling
  /** The shape of the webhooks that are created through this codec. */
  readonly webhook: WebhookShape
  /** Converts a message to the shape of `core`. The engine validates its content. */
  readMessage(value: unknown): Message
  readConfiguration(value: Params): SendConfiguration
  readPush(params: Params): { readonly taskId: string; readonly target: PushTarget }

  task(task: Task, view: TaskView): object
  /** Renders the answer to a send. */
  sentTask(task: Task, view: TaskView): object
  sentMessage(message: Message): object
  /**
   * Renders one frame of a stream. `closes`: it is the last frame. Undefined: this version has no
   * frame for the event.
   */
  event(event: TaskEvent, closes: boolean): object | undefined
  /** The notification that the RFCs define for the event, if any. */
  notification(event: TaskEvent): RfcNotification | undefined
  push(taskId: string, target: PushTarget): object
  pushList(taskId: string, targets: readonly PushTarget[]): object

  /** The states that a filter value of this version matches. */
  readonly statesOf: (wire: string) => readonly State[] | undefined
}

/** Implements `historyLength`: how many messages of the history an answer contains. */
export function readHistoryLength(configuration: Params): number | undefined {
  const path = 'configuration.historyLength'
  return optionalInteger(configuration, 'historyLength', { min: 0 }, path)
}

/**
 * Returns the newest messages, limited in number and in bytes. The newest one is always included,
 * unless `length` is 0.
 */
export type NewestMessages = (
  history: readonly Message[],
  length: number | undefined,
) => readonly Message[]

export function createNewest(bytes: number): NewestMessages {
  return (history, length = history.length) => {
    const first = Math.max(0, history.length - length)
    let from = history.length
    for (let used = 0; from > first; from--) {
      used += weightOf(history[from - 1])
      if (used > bytes && from < history.length) break
    }
    return from === 0 ? history : history.slice(from)
  }
}
