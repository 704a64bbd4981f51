/** The differences between the versions of A2A: reading messages, writing tasks, events and push configs. */
import type { Message } from '../../../core/messages/message.ts'
import type { PushTarget } from '../../../core/push.ts'
import type { State } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Params } from '../addresses/params.ts'
import type { Version } from '../addresses/versions.ts'
import type { RfcNotification } from '../schemas/rfc-notifications.ts'
import type { TaskEvent } from '../streams/task-events.ts'

/** The parts of a task that a caller asks for. */
export interface TaskView {
  /** At most this many messages, the newest ones. Undefined: all messages. */
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
 * How A2A 0.3 spells the states that its specification does not have: as the RFCs do, or as the core state they refine.
 */
export type StateSpelling = 'rfc' | 'core'

/** The shape of a webhook's bodies. It is chosen when the webhook is created, and stored with it. */
export const webhookShapes = ['1.0', '0.3', '0.3-core', '0.3-bindu'] as const
export type WebhookShape = (typeof webhookShapes)[number]

export interface Codec {
  readonly version: Version
  /** Unique among the codecs of all versions. */
  readonly name: string
  /** The shape of webhooks that are created through this codec. */
  readonly webhook: WebhookShape
  /** Maps a message to the shape of core. The engine validates the rest. */
  readMessage(value: unknown): Message
  readConfiguration(value: Params): SendConfiguration
  readPush(params: Params): { readonly taskId: string; readonly target: PushTarget }

  task(task: Task, view: TaskView): object
  /** The answer to a send. */
  sentTask(task: Task, view: TaskView): object
  sentMessage(message: Message): object
  /** One frame of a stream. `closes`: it is the last frame. Undefined: the version has no frame for the event. */
  event(event: TaskEvent, closes: boolean): object | undefined
  /** The notification of the RFCs for the event, if they have one. */
  notification(event: TaskEvent): RfcNotification | undefined
  push(taskId: string, target: PushTarget): object
  pushList(taskId: string, targets: readonly PushTarget[]): object

  /** The states that a filter value of this version matches. */
  readonly statesOf: (wire: string) => readonly State[] | undefined
}
