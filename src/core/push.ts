import type { Task } from './task.ts'

/** A webhook of a task: where its events are sent. */
export interface PushTarget {
  readonly id: string
  readonly url: string
  readonly token?: string
  readonly authentication?: { readonly scheme: string; readonly credentials?: string }
}

/**
 * A row of the outbox. It holds no copy of what is sent: the log has everything, in order, so a place in the log is
 * enough for "at least once, ordered per task, nothing lost" across any crash.
 */
export interface Push extends PushTarget {
  readonly taskId: string
  /** The protocol version, and where it has several the dialect, under which it was made: bodies and headers follow it. */
  readonly version: string
  readonly createdAt: number
  /** Everything up to this record has been delivered. */
  readonly sentSeq: number
  /** Failed attempts of the delivery that is due. */
  readonly attempts: number
  readonly firstFailedAt?: number
  /** Not before this instant. */
  readonly retryAt?: number
  /** The task has ended and everything is delivered. */
  readonly done?: true
  /** Given up: parked and visible until somebody sets the config anew. */
  readonly failedAt?: number
  readonly error?: string
}

/** Makes the webhook that comes with a message to a task; `before` is absent where the message created the task. */
export type MakePush = (task: Task, before: Task | undefined) => Push

export type PushStatus = 'open' | 'failed' | 'done'

export function pushStatus({ failedAt, done }: Push): PushStatus {
  if (failedAt !== undefined) return 'failed'
  return done ? 'done' : 'open'
}
