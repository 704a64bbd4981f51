/** Writes rows of `tasks`. */
import type { Database } from '../files/driver.ts'
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
      insert.run(num, ...row)
    },
    change(row, num) {
      update.run(...changesOf(row), num)
    },
  }
}
