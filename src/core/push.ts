import type { Task } from './task.ts'

/** A webhook of a task: where its events are sent. */
export interface PushTarget {
  readonly id: string
  readonly url: string
  readonly token?: string
  readonly authentication?: { readonly scheme: string; readonly credentials?: string }
  /** The id of the API key of the caller that set the webhook. The webhook ends with that key. */
  readonly setWith?: string
}

/**
 * A row of the outbox. It does not copy the events, because the log has them in order. A position
 * in the log is enough to deliver every event at least once and in order per task, across any
 * crash.
 */
export interface Push extends PushTarget {
  readonly taskId: string
  /** The owner of the task. */
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
  /** When delivery was given up. The webhook stays visible until it is configured again. */
  readonly failedAt?: number
  readonly error?: string
}

export type PushOwner = Push['owner']

/**
 * Creates the webhook that a message configures. `before` is undefined when the message created the
 * task.
 */
export type MakePush = (task: Task, before: Task | undefined) => Push

export type PushStatus = 'open' | 'failed' | 'done'

export function pushStatus({ failedAt, done }: Push): PushStatus {
  if (failedAt !== undefined) return 'failed'
  return done ? 'done' : 'open'
}
