import type { Database } from './driver.ts'

/** Runs the work in one transaction: all of it is durable when the call returns, or none of it happened. */
export type Transact = <T>(work: () => T) => T

/** `undone` is called when what was written is not there after all. */
export function createTransact(db: Database, undone: () => void = () => undefined): Transact {
  // IMMEDIATE takes the write lock first, so that a writer never finds out half-way that it cannot write.
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')

  return (work) => {
    begin.run()
    try {
      const result = work()
      commit.run()
      return result
    } catch (error) {
      undone()
      try {
        rollback.run()
      } catch {
        // A full disk or an I/O error has already rolled it back.
      }
      throw error
    }
  }
}
