import type { Task } from './task.ts'

/** A webhook of a task: where its events are sent. */
export interface PushTarget {
  readonly id: string
  readonly url: string
  readonly token?: string
  readonly authentication?: { readonly scheme: string; readonly credentials?: string }
  /** The credential of the caller that set it. The webhook ends with it. */
  readonly setWith?: string
}

/**
 * A row of the outbox. It has no copy of the events, because the log has them in order. A position in the log is enough
 * for delivery at least once, in order per task and without loss, across any crash.
 */
export interface Push extends PushTarget {
  readonly taskId: string
  /** Whose task it is. */
  readonly owner: { readonly tenant: string; readonly principal: string }
  /** The protocol version and dialect of the webhook. They decide the shape of bodies and headers. */
  readonly version: string
  readonly createdAt: number
  /** Everything up to this record has been delivered. */
  readonly sentSeq: number
  /** The number of failed attempts of the current delivery. */
  readonly attempts: number
  readonly firstFailedAt?: number
  /** The next attempt is not made before this instant. */
  readonly retryAt?: number
  /** The task has ended and everything is delivered. */
  readonly done?: true
  /** When the delivery was given up. The webhook stays visible until its config is set again. */
  readonly failedAt?: number
  readonly error?: string
}

export type PushOwner = Push['owner']

/** Creates the webhook in a message to a task. `before` is undefined when the message created the task. */
export type MakePush = (task: Task, before: Task | undefined) => Push

export type PushStatus = 'open' | 'failed' | 'done'

export function pushStatus({ failedAt, done }: Push): PushStatus {
  if (failedAt !== undefined) return 'failed'
  return done ? 'done' : 'open'
}
