/** What differs between the versions of A2A: reading messages, writing tasks, events and push configs. */
import type { Message } from '../../../core/message.ts'
import type { PushTarget } from '../../../core/push.ts'
import type { State } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Params } from '../params.ts'
import type { RfcNotification } from '../schemas/rfc-notifications.ts'
import type { TaskEvent } from '../task-events.ts'
import type { Version } from '../versions.ts'

/** How much of a task is asked for. */
export interface TaskView {
  /** At most the newest so many; undefined is all of it. */
  readonly historyLength?: number | undefined
  readonly withArtifacts: boolean
}

export const wholeTask: TaskView = { withArtifacts: true }

export interface SendConfiguration {
  readonly historyLength?: number | undefined
  readonly immediate: boolean
  readonly push?: PushTarget | undefined
}

/** How A2A 0.3 spells the states that its specification does not have: as the RFCs do, or as the core state they refine. */
export type StateSpelling = 'rfc' | 'core'

/** What a webhook's bodies look like: decided when the webhook is made, and stored with it. */
export const webhookShapes = ['1.0', '0.3', '0.3-core', '0.3-bindu'] as const
export type WebhookShape = (typeof webhookShapes)[number]

export interface Codec {
  readonly version: Version
  /** Tells codecs of one version apart. */
  readonly name: string
  /** Of webhooks that are made through this codec. */
  readonly webhook: WebhookShape
  /** The message as core keeps it. Only what differs is mapped: the engine checks the rest. */
  readMessage(value: unknown): Message
  readConfiguration(value: Params): SendConfiguration
  readPush(params: Params): { readonly taskId: string; readonly target: PushTarget }

  task(task: Task, view: TaskView): object
  /** The answer to a send. */
  sentTask(task: Task, view: TaskView): object
  sentMessage(message: Message): object
  /** One frame of a stream. `closes`: it is the last one. */
  event(event: TaskEvent, closes: boolean): object | undefined
  /** The RFCs' notification for the event, for those who asked for them. */
  notification(event: TaskEvent): RfcNotification | undefined
  push(taskId: string, target: PushTarget): object
  pushList(taskId: string, targets: readonly PushTarget[]): object

  /** The states a filter of this version means. */
  readonly statesOf: (wire: string) => readonly State[] | undefined
}
