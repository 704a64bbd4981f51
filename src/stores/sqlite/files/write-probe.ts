import type { Transact } from '../transaction.ts'
import type { Database } from './driver.ts'

/**
 * Writes a page and removes it. It inserts a row, because an update in place would succeed on a
 * full disk.
 */
export function createWriteProbe(db: Database, transact: Transact): () => void {
  const fill = db.prepare('INSERT INTO probe (body) VALUES (zeroblob(16384))')
  const empty = db.prepare('DELETE FROM probe')
  return () =>
    transact(() => {
      fill.run()
      empty.run()
    })
}
