/** Writes rows of `tasks`. Statements without a result are run by `get`, because `run` allocates a result object. */
import type { Database } from './driver.ts'
import { type BoundRow, changesOf, insertTask, updateTask } from './task-columns.ts'

export interface WriteRows {
  /** @param num the number of the new task @throws when a task with this id exists (`isTaken`) */
  create(row: BoundRow, num: number): void
  change(row: BoundRow, num: number): void
}

export function createWriteRows(db: Database): WriteRows {
  const insert = db.prepare(insertTask)
  const update = db.prepare(updateTask)
  return {
    create(row, num) {
      insert.get(num, ...row)
    },
    change(row, num) {
      update.get(...changesOf(row), num)
    },
  }
}
