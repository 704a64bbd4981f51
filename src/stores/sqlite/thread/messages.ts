/**
 * Messages between the main thread and the writing thread. Calls run, and are answered, in the
 * order of arrival. A message of the writing thread contains the answers to one or more calls.
 */

import { isLullError, LullError, type Refusal, toError } from '../../../core/errors.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import type { CommitResult } from '../../../ports/store/tasks.ts'
import type { StoreMethod } from '../../../ports/store.ts'
import type { DatabaseOptions } from '../files/open-database.ts'
import type { EncodedCommit } from '../tasks/encoded-commit.ts'

export interface WriterOptions extends DatabaseOptions {
  readonly file: string
  /** A descriptor of the file; see `watchFiles`. */
  readonly fd: number
}

/** What the thread is started with. */
export interface WriterData extends WriterOptions {
  readonly lock: SharedArrayBuffer
}

export type Call =
  | { readonly write: readonly EncodedCommit[] }
  | { readonly method: StoreMethod; readonly args: readonly unknown[] }

export type Answer =
  | { readonly opened: true }
  /**
   * The value is undefined when every commit of a batch was written, or when the call has no
   * result.
   */
  | { readonly value: unknown }
  | { readonly error: EncodedError }

/** Errors cross threads as plain values. The receiving thread makes a `LullError` again from its code and details. */
type EncodedError = { readonly ours: Refusal } | { readonly text: string }

export function encodeError(error: unknown): EncodedError {
  if (isLullError(error)) {
    return { ours: { code: error.code, details: error.details } as Refusal }
  }
  return { text: describeError(error).message }
}

export function decodeError(error: EncodedError): Error {
  return 'ours' in error ? toError(error.ours) : new Error(error.text)
}

/** Undefined when every commit was written, which is the usual case. */
export function encodeResults(results: readonly CommitResult[]): readonly unknown[] | undefined {
  if (results.every(({ status }) => status === 'written')) return undefined
  return results.map((result) =>
    result.status === 'failed' ? { ...result, error: encodeError(result.error) } : result,
  )
}

const written: CommitResult = { status: 'written' }

export function decodeResults(value: unknown, count: number): readonly CommitResult[] {
  if (value === undefined) return new Array<CommitResult>(count).fill(written)
  return (value as readonly (CommitResult & { readonly error?: EncodedError })[]).map((result) =>
    result.status === 'failed'
      ? { ...result, error: decodeError(result.error as EncodedError) }
      : result,
  )
}

export function writerEnded(cause?: unknown): LullError<'STORE_UNAVAILABLE'> {
  const why =
    'the thread that writes lull.db has ended; restart Lull, nothing that was confirmed is lost'
  return new LullError('STORE_UNAVAILABLE', { why, restart: true }, { cause })
}
