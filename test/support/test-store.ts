/**
 * Which store the suites of whole processes use. A process is told by its data directory: SQLite keeps its file there. With
 * `LULL_TEST_STORE=postgres` (the test project `postgres-suites`) a schema of its own stands for each directory.
 */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { inject } from 'vitest'
import type { Store } from '../../src/ports/store.ts'
import { createPostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import type {} from '../../src/stores/postgres/test-support/global-setup.ts'
import { createSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'

export const onPostgres: boolean = process.env['LULL_TEST_STORE'] === 'postgres'

/** A process that was killed is missed after this time; the same as in `short-lease.json`. */
export const LEASE_MS = 2_000

const schemaOf = (data: string): string =>
  `test_${createHash('sha256').update(data).digest('hex').slice(0, 20)}`

/** Records have the time of the store, and what steps leave behind has the time of their process. They differ so much at most. */
export const SKEW_MS: number = onPostgres ? LEASE_MS / 2 : 0

/** The schema that stands for the data directory; undefined on SQLite. */
export function postgresOf(
  data: string,
): { readonly url: string; readonly schema: string } | undefined {
  return onPostgres ? { url: inject('postgres'), schema: schemaOf(data) } : undefined
}

/** What a process has to be told beside its data directory. */
export function storeVariables(data: string): Readonly<Record<string, string>> {
  const postgres = postgresOf(data)
  if (postgres === undefined) return {}
  return {
    LULL_POSTGRES: postgres.url,
    LULL_POSTGRES_SCHEMA: postgres.schema,
    LULL_CONFIG: fileURLToPath(new URL('./short-lease.json', import.meta.url)),
  }
}

/** Opens what processes with this data directory have written. */
export function openTestStore(data: string): Promise<Store> {
  const postgres = postgresOf(data)
  return postgres
    ? createPostgresStore(postgres)
    : createSqliteStore({ path: data, waitForLockMs: 5_000 })
}

/** Removes what is not in the data directory. */
export async function removeTestStore(data: string): Promise<void> {
  if (!onPostgres) return
  const client = new pg.Client(inject('postgres'))
  await client.connect()
  await client.query('SET client_min_messages = warning')
  await client.query(`DROP SCHEMA IF EXISTS ${schemaOf(data)} CASCADE`)
  await client.end()
}
