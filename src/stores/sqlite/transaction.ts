import type { Database } from './files/driver.ts'

/** Runs the work in one transaction. When the call returns, all of it is durable. When it throws, nothing was written. */
export type Transact = <T>(work: () => T) => T

/** @param undone called when the transaction is rolled back */
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
        // After a full disk or an I/O error, SQLite has already rolled the transaction back.
      }
      throw error
    }
  }
}
