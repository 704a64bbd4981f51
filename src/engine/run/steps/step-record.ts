/** The records of a step: one for each attempt that did not settle it, and one that did. */

import type { Failure, JournalRecord } from '../../../core/records.ts'
import type { Json } from '../../../core/values/json.ts'
import type { OperationScope } from '../operation-scope.ts'
import { type Entry, recordOf } from '../replay/journal.ts'

export type StepRecord = JournalRecord & { readonly type: 'step' }
export type AttemptRecord = JournalRecord & { readonly type: 'attempt' }

/** The outcome of one attempt. */
export type Outcome =
  | { readonly status: 'done'; readonly result: Json | undefined }
  | { readonly status: 'interrupted' }
  | { readonly status: 'failed'; readonly failure: Failure; readonly fatal: boolean }

export interface AttemptFacts {
  readonly key: string
  readonly name: string
  readonly scope: OperationScope
  readonly attempt: number
  readonly outcome: Outcome
  /** Whether a failure that is not fatal is followed by another attempt. */
  readonly retries: boolean
  readonly inputDigest: string | undefined
}

/** The record of an attempt: `step` if it settles the step, `attempt` if the step is tried again. */
export function attemptRecord(facts: AttemptFacts): StepRecord | AttemptRecord {
  const { key, name, scope, attempt, outcome, retries, inputDigest } = facts
  const base = { key, attempt }
  if (outcome.status === 'interrupted') return { type: 'attempt', ...base, outcome: 'interrupted' }
  if (outcome.status === 'failed' && retries && !outcome.fatal) {
    return { type: 'attempt', ...base, outcome: 'failed', failure: outcome.failure }
  }
  const isTop = scope.turn === undefined && scope.inside === undefined
  const record: StepRecord = {
    type: 'step',
    ...base,
    name,
    ...(isTop ? { topLevel: true } : {}),
    ...(inputDigest === undefined ? {} : { inputDigest }),
  }
  if (outcome.status === 'failed') return { ...record, failure: outcome.failure }
  return outcome.result === undefined ? record : { ...record, result: outcome.result }
}

/** Returns the result of a settled step, or throws its failure. */
export function settledValue<T>({ failure, result }: StepRecord): T {
  if (failure !== undefined) throw revive(failure)
  return result as T
}

export function recordedStep<T>(entry: Entry): { readonly value: T } | undefined {
  const record = recordOf(entry, 'step')
  return record && { value: settledValue<T>(record) }
}

/** Makes an error from a recorded failure. A live run throws this error too, so that a rebuilt run gets the same one. */
export function revive({ name, message, stack, code, details }: Failure): Error {
  const error = Object.assign(new Error(message), { name })
  if (stack !== undefined) error.stack = stack
  return Object.assign(
    error,
    code === undefined ? {} : { code },
    details === undefined ? {} : { details },
  )
}
