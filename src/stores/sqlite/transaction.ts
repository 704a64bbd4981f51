import type { Database } from './files/driver.ts'

/** Runs the work in one transaction. When the call returns, all of it is durable. When it throws, nothing was written. */
export type Transact = <T>(work: () => T) => T

/** `undone` is called when the transaction is rolled back. */
export function createTransact(db: Database, undone: () => void = () => undefined): Transact {
  // IMMEDIATE takes the write lock at the start, so that a transaction cannot fail half-way for lack of it.
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
