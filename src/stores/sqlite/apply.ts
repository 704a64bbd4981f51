/**
 * Applies one commit. A step costs one look-up and one insert, because the version of a task is the number of its last
 * record and no counter is kept. The caller's transaction holds the write lock, so comparing and writing are atomic.
 */
import type { State } from '../../core/states.ts'
import type { CommitResult } from '../../ports/store/tasks.ts'
import type { Claims } from './claims.ts'
import type { Move } from './counts.ts'
import type { Database } from './driver.ts'
import type { EncodedCommit } from './encoded-commit.ts'
import { isTaken } from './failures.ts'
import type { Policies } from './policies.ts'
import type { Pushes } from './pushes.ts'
import { type BoundRow, boundValue } from './task-columns.ts'
import { toText } from './text.ts'
import type { Waits } from './waits.ts'
import { createWriteLog } from './write-log.ts'
import { createWriteRows } from './write-rows.ts'

/** Adds changes of state to `moves`. The caller adds them to the totals when the transaction is durable. */
export type Apply = (commit: EncodedCommit, moves: Move[]) => CommitResult

const written: CommitResult = { status: 'written' }

export interface ApplyTargets {
  readonly claims: Claims
  readonly waits: Waits
  readonly pushes: Pushes
  readonly policies: Pick<Policies, 'spend'>
}

export function createApply(
  db: Database,
  { claims, waits, pushes, policies }: ApplyTargets,
): Apply {
  const find = db.prepare(
    `SELECT num, state, waits, coalesce(
       (SELECT max(seq) FROM records WHERE task = num),
       (SELECT seq FROM records WHERE pos = num AND task IS NULL)) AS version
     FROM tasks WHERE id = ?`,
  )
  const rows = createWriteRows(db)
  const log = createWriteLog(db)

  function replaceWaits(row: BoundRow, id: string, before: string | null): void {
    const after = boundValue(row, 'waits') as string | null
    waits.replace(String(boundValue(row, 'tenant')), id, before, after)
  }

  function create(commit: EncodedCommit, row: BoundRow, moves: Move[]): CommitResult {
    const id = toText(commit.taskId)
    const { claim } = commit
    const holder = claim && claims.take(claim)
    if (holder !== undefined && holder.taskId !== commit.taskId) {
      return { status: 'claimed', claim: holder }
    }
    const num = log.next()
    try {
      rows.create(row, num)
    } catch (error) {
      if (!isTaken(error)) throw error
      if (claim !== undefined && holder === undefined) claims.drop(claim)
      return { status: 'conflict', version: Number(find.get(id)?.['version'] ?? 0) }
    }
    replaceWaits(row, id, null)
    log.begin(commit, num)
    moves.push({ row, from: undefined })
    return written
  }

  function extend(commit: EncodedCommit, moves: Move[]): CommitResult {
    const { expected, row, claim } = commit
    const id = toText(commit.taskId)
    const holder = claim && claims.take(claim)
    if (holder !== undefined) return { status: 'claimed', claim: holder }
    const found = find.get(id)
    const version = Number(found?.['version'] ?? 0)
    if (found === undefined || version !== expected) {
      if (claim !== undefined) claims.drop(claim)
      return { status: 'conflict', version }
    }
    const num = Number(found['num'])
    if (row !== undefined) {
      rows.change(row, num)
      replaceWaits(row, id, found['waits'] as string | null)
      moves.push({ row, from: found['state'] as State })
    }
    log.append(commit, num)
    return written
  }

  return (commit, moves) => {
    const { expected, row } = commit
    const result =
      expected === 0 && row !== undefined ? create(commit, row, moves) : extend(commit, moves)
    if (result === written) {
      for (const push of commit.pushes ?? []) pushes.put(push)
      for (const one of commit.spending ?? []) policies.spend(one)
    }
    return result
  }
}
