/** Writes the rows of `tasks`. Statements whose result nobody reads are run by `get`: `run` makes an object each time. */
import type { Database } from './driver.ts'
import { type BoundRow, changesOf, insertTask, updateTask } from './task-columns.ts'

export interface WriteRows {
  /** @param num the number the task is given @throws when there is a task of that id (`isTaken`) */
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
