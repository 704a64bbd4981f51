import type { Hold } from '../../ports/store/holds.ts'
import type { Direct } from '../../ports/store.ts'
import type { Database } from './files/driver.ts'
import { toText } from './text.ts'

export function createHolds(db: Database): Direct<'putHold' | 'holds'> {
  const upsert = db.prepare(
    `INSERT INTO holds (id, created_at, lifted_at, body) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE
     SET created_at = excluded.created_at, lifted_at = excluded.lifted_at, body = excluded.body`,
  )
  // Scans the table, because operators make few holds.
  const select = db.prepare(
    'SELECT body FROM holds WHERE lifted_at IS NULL OR ? ORDER BY created_at, pos',
  )
  return {
    putHold(hold) {
      upsert.run(toText(hold.id), hold.createdAt, hold.liftedAt ?? null, JSON.stringify(hold))
    },
    holds: (all = false) =>
      select.all(all ? 1 : 0).map((row) => JSON.parse(String(row['body'])) as Hold),
  }
}
