/**
 * Writes a batch of commits in one transaction, and so with one fsync.
 *
 *   encode each ─▶ BEGIN, apply each, count, COMMIT ─▶ results
 *                    │ one of them threw
 *                    └─▶ ROLLBACK, BEGIN, apply each in a savepoint of its own, COMMIT ─▶ results
 *
 * When nothing can be written (disk full, I/O error), the whole batch is rolled back and the error is thrown.
 *
 * A step needs only one look-up and one insert, because the version of a task is the number of its
 * last record and no counter is stored. The transaction has the write lock, so comparing and writing
 * are atomic.
 */
import type { State } from '../../../core/states.ts'
import { FOREIGN_ID } from '../../../ports/store/commit-shape.ts'
import type { CommitResult } from '../../../ports/store/tasks.ts'
import { toText } from '../../../ports/store/text.ts'
import type { Claims } from '../claims/claims.ts'
import { concernsStore, isTaken } from '../failures.ts'
import type { Database, Row } from '../files/driver.ts'
import type { Policies } from '../policies.ts'
import type { Pushes } from '../pushes.ts'
import type { Transact } from '../transaction.ts'
import { createCountUsage, type Move, type Written } from '../usage.ts'
import type { Counts } from './counts.ts'
import type { EncodedCommit, Failed } from './encoded-commit.ts'
import { type BoundRow, boundValue, changesOf, insertTask, updateTask } from './task-columns.ts'
import type { Waits } from './waits.ts'

/**
 * Writes commits. Results are in the order of the batch, and include commits that could not be
 * encoded.
 */
export type Write = (commits: readonly (EncodedCommit | Failed)[]) => readonly CommitResult[]

/** Applies one commit and adds what it has written to `all`, from which the totals are updated. */
type Apply = (commit: EncodedCommit, all: Written[]) => CommitResult

/** What a commit writes besides the task and its log. */
export interface CommitTargets {
  readonly claims: Claims
  readonly counts: Counts
  readonly replaceWaits: Waits['replaceWaits']
  readonly putPush: Pushes['putPush']
  readonly spend: Policies['spend']
}

const written: CommitResult = { status: 'written' }

export function createWrite(db: Database, transact: Transact, targets: CommitTargets): Write {
  const { claims, counts } = targets
  const savepoint = db.prepare('SAVEPOINT one')
  const undo = db.prepare('ROLLBACK TO one')
  const release = db.prepare('RELEASE one')
  const apply = createApply(db, targets)
  const countUsage = createCountUsage(db)

  const applyAlone: Apply = (commit, all) => {
    let result: CommitResult
    const before = all.length
    savepoint.run()
    try {
      result = apply(commit, all)
    } catch (error) {
      // If the store cannot write at all, the whole transaction is rolled back, including its
      // savepoints.
      if (concernsStore(error)) throw error
      undo.run()
      claims.forget()
      all.length = before
      result = { status: 'failed', kind: 'content', error }
    }
    release.run()
    return result
  }

  function writeTogether(
    commits: readonly (EncodedCommit | Failed)[],
    use: Apply,
  ): readonly CommitResult[] {
    const all: Written[] = []
    const results = transact(() => {
      const each = commits.map((commit) => ('status' in commit ? commit : use(commit, all)))
      countUsage(all)
      return each
    })
    for (const { move } of all) if (move !== undefined) counts.follow(move)
    return results
  }

  return (commits) => {
    if (commits.length === 0) return []
    try {
      return writeTogether(commits, apply)
    } catch (error) {
      if (concernsStore(error)) throw error
      return writeTogether(commits, applyAlone)
    }
  }
}

function createApply(db: Database, targets: CommitTargets): Apply {
  const { claims, replaceWaits, putPush, spend } = targets
  const find = db.prepare(
    `SELECT num, tenant, principal, state, waits, coalesce(
       (SELECT max(seq) FROM records WHERE task = num),
       (SELECT seq FROM records WHERE pos = num AND task IS NULL)) AS version
     FROM tasks WHERE id = ? AND tenant = ?`,
  )
  const insertRow = db.prepare(insertTask)
  const updateRow = db.prepare(updateTask)
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
      insertRow.run(num, ...row)
    } catch (error) {
      if (!isTaken(error)) throw error
      if (claim !== undefined && holder === undefined) claims.drop(claim)
      const found = find.get(id, toText(commit.tenant))
      if (found === undefined) throw new TypeError(FOREIGN_ID)
      return { status: 'conflict', version: Number(found['version']) }
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
    const found = find.get(id, toText(commit.tenant))
    const version = Number(found?.['version'] ?? 0)
    if (found === undefined || version !== expected) {
      if (claim !== undefined) claims.drop(claim)
      return { status: 'conflict', version }
    }
    const num = Number(found['num'])
    if (row !== undefined) {
      updateRow.run(...changesOf(row), num)
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

/**
 * Writes rows of the log, snapshots and anchors. The first row of a task has the task's number as
 * its position, and no `task` (`0001-initial.sql`).
 */
function createWriteLog(db: Database) {
  const lastPos = db.prepare('SELECT max(pos) AS n FROM records')
  const lastNum = db.prepare('SELECT max(num) AS n FROM tasks')
  const insertFirst = db.prepare('INSERT INTO records (pos, seq, body) VALUES (?, ?, ?)')
  const insert = db.prepare('INSERT INTO records (pos, task, seq, body) VALUES (?, ?, ?, ?)')
  const keep = db.prepare(
    `INSERT INTO snapshots (task, seq, body) VALUES (?, ?, ?)
     ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, body = excluded.body`,
  )
  const setAnchor = db.prepare('UPDATE tasks SET anchor = ? WHERE num = ?')
  let last: number | undefined

  /**
   * Reserves the position of the next row, which is also the number of a task that this row creates.
   * Positions reserved in a transaction that was rolled back are not reused.
   */
  function next(): number {
    last ??= Math.max(...[lastPos, lastNum].map((query) => Number(query.get()?.['n'] ?? 0)))
    return ++last
  }

  function keepBeside({ version, snapshot, anchor }: EncodedCommit, num: number): void {
    if (snapshot !== undefined) keep.run(num, version, snapshot)
    if (anchor !== undefined) setAnchor.run(anchor, num)
  }

  return {
    next,
    begin(commit: EncodedCommit, num: number): void {
      insertFirst.run(num, commit.version, commit.records)
      keepBeside(commit, num)
    },
    append(commit: EncodedCommit, num: number): void {
      insert.run(next(), num, commit.version, commit.records)
      keepBeside(commit, num)
    },
  }
}
