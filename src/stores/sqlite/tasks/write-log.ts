/**
 * Writes rows of the log, snapshots and anchors. The first row of a task has the task's number as
 * its position, and no `task` (`0001-initial.sql`).
 */

import type { Database } from '../files/driver.ts'
import type { EncodedCommit } from './encoded-commit.ts'

export interface WriteLog {
  /**
   * Reserves the position of the next row. It is also the number of a task that this row creates.
   */
  next(): number
  begin(commit: EncodedCommit, num: number): void
  append(commit: EncodedCommit, num: number): void
}

export function createWriteLog(db: Database): WriteLog {
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

  /** Positions reserved in a transaction that was rolled back are not reused. */
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
    begin(commit, num) {
      insertFirst.run(num, commit.version, commit.records)
      keepBeside(commit, num)
    },
    append(commit, num) {
      insert.run(next(), num, commit.version, commit.records)
      keepBeside(commit, num)
    },
  }
}
