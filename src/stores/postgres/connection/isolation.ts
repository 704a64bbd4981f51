/**
 * Every statement must see everything that was committed before it begins, also after waiting for a
 * lock: a commit reads the holds after it has waited for one that is being placed. Read Committed
 * guarantees this. It is PostgreSQL's default, but a role or a database can have another one.
 */
import type pg from 'pg'
import { unavailable } from './failures.ts'

export const SET_ISOLATION = "SET default_transaction_isolation = 'read committed'"

/** Begins a transaction with several statements. */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/**
 * For connections through a pooler, on which the isolation level cannot be set.
 * @throws LullError `STORE_UNAVAILABLE` with what to do about it
 */
export async function requireReadCommitted(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ level: string; user: string }>(
    "SELECT current_setting('default_transaction_isolation') AS level, current_user AS user",
  )
  const [row] = rows
  if (row === undefined || row.level === 'read committed') return
  throw unavailable(
    `transactions are "${row.level}" here by default, and Lull cannot change that through a pooler; run ` +
      `ALTER ROLE "${row.user}" SET default_transaction_isolation = 'read committed', and restart the pooler`,
  )
}
