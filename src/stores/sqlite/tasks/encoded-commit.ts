/** Commits encoded as plain values, so that another thread can write them, several in one transaction. */
import type { Spent } from '../../../core/budgets/budget.ts'
import type { Push } from '../../../core/push.ts'
import { malformation } from '../../../ports/store/commit-shape.ts'
import type { Commit, CommitResult } from '../../../ports/store/tasks.ts'
import type { ClaimFilter } from '../claims/claim-filter.ts'
import { type EncodedClaim, encodeClaim } from '../claims/claims.ts'
import { type BoundRow, bindRow } from './task-columns.ts'

export interface EncodedCommit {
  readonly tenant: string
  readonly taskId: string
  readonly expected: number
  /** A JSON array, written as one row of the log. */
  readonly records: string
  /** The sequence number of the last record. */
  readonly version: number
  readonly row: BoundRow | undefined
  readonly snapshot: string | undefined
  readonly anchor: string | undefined
  readonly claim: EncodedClaim | undefined
  readonly pushes: readonly Push[] | undefined
  readonly spending: readonly Spent[] | undefined
}

export type Failed = Extract<CommitResult, { status: 'failed' }>

/**
 * Encodes before the transaction starts, so that a value that is not JSON fails only its own
 * commit.
 */
export function encodeCommit(
  commit: Commit,
  filter: ClaimFilter | undefined,
): EncodedCommit | Failed {
  const problem = malformation(commit)
  if (problem !== undefined) {
    return { status: 'failed', kind: 'malformed', error: new TypeError(problem) }
  }
  try {
    const { tenant, taskId, expected, records, row, snapshot } = commit
    const { anchor, claim, pushes, spending } = commit
    return {
      tenant,
      taskId,
      expected,
      records: JSON.stringify(records),
      version: expected + records.length,
      row: row && bindRow(row),
      snapshot: snapshot && JSON.stringify(snapshot),
      anchor,
      claim: claim && encodeClaim(claim, filter),
      pushes,
      spending,
    }
  } catch (error) {
    return { status: 'failed', kind: 'content', error }
  }
}
