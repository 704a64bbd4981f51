/**
 * Migrates the schema to that of this version. Migrations are numbered files, forward only.
 * Invariants (migrate.test.ts):
 *  M1  the missing migrations run in one transaction under a lock, so that of several processes one migrates;
 *  M2  a schema that is up to date is not written to;
 *  M3  a process starts on a newer schema if `readable_from` of the schema says that its version
 *      can still use it;
 *  M4  a schema of another program is left alone;
 *  M5  a schema made before the first release, which lacks a table of the first migration, is refused
 *      with the way to keep its tasks;
 *  M6  a read-only program refuses an older or missing schema, and does not change it;
 *  M7  a migration only adds, so that running processes of an older version keep working
 *      (older-programs.test.ts).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { isLullError, LullError } from '../../core/errors.ts'
import { olderSchema } from '../../core/older-schema.ts'
import { BUNDLED } from '../../core/package-files.ts'
import { ofOneTenant, TWO_FORMS } from './commit-forms.ts'
import type { Place } from './connection/connection.ts'
import { failureOf, isTimeout, unavailable, withTimeoutCode } from './connection/failures.ts'
import { BEGIN } from './connection/isolation.ts'

export interface Migration {
  readonly number: number
  readonly sql: string
}

export interface SchemaRow {
  readonly number: number
  /** The number of the last migration that the oldest compatible program knows. */
  readonly readable_from: number
}

/**
 * Programs that know this migration, or a later one, can use the schema after the last migration.
 */
const READABLE_FROM = 1
/** A table that the first migration makes, and that no schema before the first release has. */
const NEWEST_TABLE = 'event_positions'
const OLDEST_VERSION = 140_000
/**
 * A process that waits for a lock blocks all statements queued behind it, so it waits only shortly.
 */
const LOCK_MS = 3_000
const ATTEMPTS = 10
/**
 * No new attempt starts after this time. A host that does not answer takes seconds per attempt, and
 * so gets only one.
 */
const PATIENCE_MS = 8_000

export function readMigrations(
  directory: string = fileURLToPath(new URL('./migrations/', import.meta.url)),
): readonly Migration[] {
  const files = filesIn(directory).filter((file) => file.endsWith('.sql'))
  const parts = files.sort().map((file) => ({
    number: Number.parseInt(file, 10),
    sql: inBothForms(readFileSync(join(directory, file), 'utf8')),
  }))
  const numbers = [...new Set(parts.map(({ number }) => number))]
  return numbers.map((number) => ({
    number,
    sql: parts.flatMap((part) => (part.number === number ? [part.sql] : [])).join('\n'),
  }))
}

function inBothForms(sql: string): string {
  return sql.includes(TWO_FORMS) ? `${sql}\n${ofOneTenant(sql)}` : sql
}

/**
 * The statements of a migration for a schema. `{of tenant: …}` marks a table that can be divided by
 * tenant, with its storage parameters.
 */
function statementsOf(sql: string, schema: string): string {
  const storage = (_: string, given?: string): string => (given ? `WITH (${given})` : '')
  return sql.replace(/\{of tenant(?:: ([^}]*))?\}/g, storage).replaceAll('{schema}', schema)
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (cause) {
    throw new LullError('STORE_UNAVAILABLE', { why: BUNDLED }, { cause })
  }
}

/** @throws LullError `STORE_UNAVAILABLE` with a sentence an operator can act on */
export function migrate(
  place: Place,
  schema: string,
  migrations: readonly Migration[] = readMigrations(),
): Promise<void> {
  return patiently(place, (client) => bringUpToDate(client, schema, migrations))
}

/**
 * For a read-only program (M6).
 * @throws LullError `STORE_UNAVAILABLE`
 */
export function requireCurrent(place: Place, schema: string): Promise<void> {
  const known = readMigrations().at(-1)?.number ?? 0
  return patiently(place, async (client) => {
    await checkServer(client)
    const applied = await readSchemaRow(client, schema)
    if (isCurrent(applied, schema, known)) return
    if (applied !== undefined) {
      throw unavailable(olderSchema(`the schema ${schema}`, applied.number, known, 'database'))
    }
    const advice = 'give the database and the schema (LULL_POSTGRES_SCHEMA) that keep the tasks'
    throw unavailable(`there is no schema ${schema} in ${place.name}; ${advice}`)
  })
}

async function patiently(place: Place, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const began = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      return await connected(place, work)
    } catch (error) {
      if (isLullError(error)) throw error
      const { kind, why } = failureOf(error)
      const isLast =
        attempt === ATTEMPTS || isTimeout(error) || performance.now() - began >= PATIENCE_MS
      if (kind === 'refused' || kind === 'content' || isLast) {
        throw unavailable(`${why} (${place.name})`, error)
      }
      await sleep(50 * attempt)
    }
  }
}

export async function connected<T>(
  place: Place,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...place.config, query_timeout: 0 })
  // A lost connection fails the statement under way. Its error event must not end the process.
  client.on('error', () => undefined)
  try {
    await client.connect().catch((error: unknown) => {
      throw withTimeoutCode(error)
    })
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function bringUpToDate(
  client: pg.Client,
  schema: string,
  migrations: readonly Migration[],
): Promise<void> {
  await checkServer(client)
  const known = migrations.at(-1)?.number ?? 0
  if (isCurrent(await readSchemaRow(client, schema), schema, known)) return
  await client.query(BEGIN)
  await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}; SET LOCAL statement_timeout = 0`)
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`lull:${schema}`])
  // Another process may have migrated while this one waited for the lock.
  const applied = await readSchemaRow(client, schema)
  if (!isCurrent(applied, schema, known)) {
    if (applied === undefined) await found(client, schema)
    for (const { number, sql } of migrations) {
      if (number > (applied?.number ?? 0)) await client.query(statementsOf(sql, schema))
    }
    const row = [known, READABLE_FROM]
    await client.query(`UPDATE ${schema}.schema SET number = $1, readable_from = $2`, row)
  }
  await client.query('COMMIT')
}

/** @throws LullError when Lull cannot use this server */
export async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Server>(
    `SELECT current_setting('server_version_num')::integer AS version,
       current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby`,
  )
  const problem = rows[0] && problemOf(rows[0])
  if (problem !== undefined) throw unavailable(problem)
}

interface Server {
  readonly version: number
  readonly encoding: string
  readonly standby: boolean
}

/** Why Lull cannot use this server; undefined when it can. */
export function problemOf({ version, encoding, standby }: Server): string | undefined {
  if (version < OLDEST_VERSION) {
    return `PostgreSQL ${Math.floor(version / 10_000)} is too old; use 14 or newer`
  }
  if (encoding !== 'UTF8') {
    const advice = 'create the database with ENCODING UTF8'
    return `the database stores text as ${encoding}, not as UTF8; ${advice}`
  }
  return standby ? 'PostgreSQL is a standby; connect to the primary server' : undefined
}

/**
 * Whether no migration is needed.
 * @throws LullError when the schema is too new
 */
export function isCurrent(applied: SchemaRow | undefined, schema: string, known: number): boolean {
  if (applied === undefined || applied.number < known) return false
  if (applied.readable_from <= known) return true
  throw unavailable(
    `the schema ${schema} was written by a newer version of Lull (schema ${applied.number}, this version knows ${known}); ` +
      'use that version, or another schema',
  )
}

/**
 * Undefined when there is no schema of Lull.
 * @throws LullError when the schema belongs to another program, or when tables are missing (M5)
 */
export async function readSchemaRow(
  client: pg.Client,
  schema: string,
): Promise<SchemaRow | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v')`,
    [schema],
  )
  if (rows.length === 0) return undefined
  if (!rows.some(({ name }) => name === 'schema')) {
    const names = 'choose another schema (LULL_POSTGRES_SCHEMA)'
    throw unavailable(`the schema ${schema} has tables of another program; ${names}`)
  }
  if (!rows.some(({ name }) => name === NEWEST_TABLE)) {
    const advice =
      'export its tasks with that version (lull export) and import them into another schema (LULL_POSTGRES_SCHEMA), or drop it'
    throw unavailable(`the schema ${schema} was made by an unreleased version of Lull; ${advice}`)
  }
  return (await client.query<SchemaRow>(`SELECT number, readable_from FROM ${schema}.schema`))
    .rows[0]
}

async function found(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])
  if (rows.length === 0) await client.query(`CREATE SCHEMA ${schema}`)
  await client.query(
    `CREATE TABLE ${schema}.schema (number integer NOT NULL, readable_from integer NOT NULL)`,
  )
  await client.query(`INSERT INTO ${schema}.schema (number, readable_from) VALUES (0, 0)`)
}
