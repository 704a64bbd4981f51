/**
 * Applies one commit. A step needs only one look-up and one insert, because the version of a task
 * is the number of its last record and no counter is stored. The caller's transaction has the write
 * lock, so comparing and writing are atomic.
 */
import type { State } from '../../../core/states.ts'
import type { CommitResult } from '../../../ports/store/tasks.ts'
import type { Claims } from '../claims/claims.ts'
import { isTaken } from '../failures.ts'
import type { Database, Row } from '../files/driver.ts'
import type { Policies } from '../policies.ts'
import type { Pushes } from '../pushes.ts'
import { toText } from '../text.ts'
import type { Move, Written } from './count-usage.ts'
import type { EncodedCommit } from './encoded-commit.ts'
import { type BoundRow, boundValue } from './task-columns.ts'
import type { Waits } from './waits.ts'
import { createWriteLog } from './write-log.ts'
import { createWriteRows } from './write-rows.ts'

/**
 * Applies the commit and adds what it has written to `all`, from which the caller updates totals.
 */
export type Apply = (commit: EncodedCommit, all: Written[]) => CommitResult

const written: CommitResult = { status: 'written' }

export interface ApplyTargets {
  readonly claims: Claims
  readonly replaceWaits: Waits['replaceWaits']
  readonly putPush: Pushes['putPush']
  readonly spend: Policies['spend']
}

export function createApply(
  db: Database,
  { claims, replaceWaits, putPush, spend }: ApplyTargets,
): Apply {
  const find = db.prepare(
    `SELECT num, tenant, principal, state, waits, coalesce(
       (SELECT max(seq) FROM records WHERE task = num),
       (SELECT seq FROM records WHERE pos = num AND task IS NULL)) AS version
     FROM tasks WHERE id = ?`,
  )
  const rows = createWriteRows(db)
  const log = createWriteLog(db)

  function changeWaits(row: BoundRow, id: string, before: string | null): void {
    const after = boundValue(row, 'waits') as string | null
    replaceWaits(String(boundValue(row, 'tenant')), id, before, after)
  }

  function create(commit: EncodedCommit, row: BoundRow, all: Written[]): CommitResult {
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
    changeWaits(row, id, null)
    log.begin(commit, num)
    const owner = { tenant: boundValue(row, 'tenant'), principal: boundValue(row, 'principal') }
    all.push(writtenFor(owner, commit, { row, from: undefined }))
    return written
  }

  function extend(commit: EncodedCommit, all: Written[]): CommitResult {
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
      changeWaits(row, id, found['waits'] as string | null)
    }
    log.append(commit, num)
    all.push(writtenFor(found, commit, row && { row, from: found['state'] as State }))
    return written
  }

  return (commit, all) => {
    const { expected, row } = commit
    const result =
      expected === 0 && row !== undefined ? create(commit, row, all) : extend(commit, all)
    if (result === written) {
      for (const push of commit.pushes ?? []) putPush(push)
      for (const one of commit.spending ?? []) spend(one)
    }
    return result
  }
}

function writtenFor(owner: Row, { records }: EncodedCommit, move: Move | undefined): Written {
  const tenant = String(owner['tenant'])
  return { tenant, principal: String(owner['principal']), bytes: Buffer.byteLength(records), move }
}
