/** Commits as text: made by whoever commits, written in one transaction with others, perhaps by another thread. */
import type { Push } from '../../core/push.ts'
import { malformation } from '../../ports/store/commit-shape.ts'
import type { Commit, CommitResult, TaskRow } from '../../ports/store/tasks.ts'
import type { ClaimFilter } from './claim-filter.ts'
import { type DraftClaim, draftClaim } from './claims.ts'

/** The columns of a row without its waits, which are text in a draft. */
export interface DraftRow
  extends Omit<TaskRow, 'waits' | 'parentId' | 'readyAt' | 'owner' | 'dueAt'> {
  readonly parentId?: string | undefined
  readonly readyAt?: number | undefined
  readonly owner?: string | undefined
  readonly dueAt?: number | undefined
}

/** A commit as text. */
export interface Draft {
  readonly taskId: string
  readonly expected: number
  /** A JSON array, written as one row of the log. */
  readonly records: string
  /** The number of the last of them. */
  readonly version: number
  readonly row: DraftRow | undefined
  /** JSON, or null for none. */
  readonly waits: string | null
  readonly snapshot: string | undefined
  readonly claim: DraftClaim | undefined
  readonly pushes: readonly Push[]
}

export type Failed = Extract<CommitResult, { status: 'failed' }>

const none: readonly Push[] = []

/** Made before the transaction, so that what is no JSON fails alone and costs nobody else. */
export function draftOf(commit: Commit, filter: ClaimFilter | undefined): Draft | Failed {
  const problem = malformation(commit)
  if (problem !== undefined) {
    return { status: 'failed', kind: 'malformed', error: new TypeError(problem) }
  }
  try {
    const { taskId, expected, records, row, snapshot, claim, pushes = none } = commit
    return {
      taskId,
      expected,
      records: JSON.stringify(records),
      version: expected + records.length,
      row,
      waits: row === undefined || row.waits.length === 0 ? null : JSON.stringify(row.waits),
      snapshot: snapshot === undefined ? undefined : JSON.stringify(snapshot),
      claim: claim && draftClaim(claim, filter),
      pushes,
    }
  } catch (error) {
    return { status: 'failed', kind: 'content', error }
  }
}
