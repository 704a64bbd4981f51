/**
 * What the two threads say to each other. Calls are carried out, and answered, in the order they came: a message from the
 * writing thread holds the answers to the next few of them.
 */
import { describeError } from '../../../core/describe-error.ts'
import { isLullError, LullError, type Refusal, toError } from '../../../core/errors.ts'
import type { CommitResult } from '../../../ports/store/tasks.ts'
import type { Store } from '../../../ports/store.ts'
import type { DatabaseOptions } from '../open-database.ts'
import type { FlatCommits } from './flat-commits.ts'

export interface WriterOptions extends DatabaseOptions {
  readonly file: string
}

/** What the thread is started with. */
export interface WriterData extends WriterOptions {
  readonly lock: SharedArrayBuffer
}

/** What is asked of the writing thread beside `commit`. Totals too: it knows of every move. */
export type Method = Exclude<keyof Store, 'commit'>

export type Call =
  | { readonly write: FlatCommits; readonly commits: number }
  | { readonly method: Method; readonly args: readonly unknown[] }

export type Answer =
  | { readonly opened: true }
  /** Undefined where every commit of a batch was written, or the call has no result. */
  | { readonly value: unknown }
  | { readonly error: ThrownThere }

/** Errors cross threads as plain values. The receiving thread makes a `LullError` again from its code and details. */
type ThrownThere = { readonly ours: Refusal } | { readonly text: string }

export function thrown(error: unknown): ThrownThere {
  if (isLullError(error)) {
    return { ours: { code: error.code, details: error.details } as Refusal }
  }
  return { text: describeError(error).message }
}

export function revived(error: ThrownThere): Error {
  return 'ours' in error ? toError(error.ours) : new Error(error.text)
}

/** A commit that failed alone carries its error along. */
export function sent(results: readonly CommitResult[]): readonly unknown[] | undefined {
  if (results.every(({ status }) => status === 'written')) return undefined
  return results.map((result) =>
    result.status === 'failed' ? { ...result, error: thrown(result.error) } : result,
  )
}

const written: CommitResult = { status: 'written' }

export function received(value: unknown, count: number): readonly CommitResult[] {
  if (value === undefined) return new Array<CommitResult>(count).fill(written)
  return (value as readonly (CommitResult & { readonly error?: ThrownThere })[]).map((result) =>
    result.status === 'failed'
      ? { ...result, error: revived(result.error as ThrownThere) }
      : result,
  )
}

export function gone(cause?: unknown): LullError<'STORE_UNAVAILABLE'> {
  const why =
    'the thread that writes lull.db has ended; restart Lull, nothing that was confirmed is lost'
  return new LullError('STORE_UNAVAILABLE', { why, restart: true }, { cause })
}
