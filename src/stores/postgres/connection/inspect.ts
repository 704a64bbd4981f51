/** Inspects a database without changing it, for people who look for a problem. */
import type pg from 'pg'
import { isLullError } from '../../../core/errors.ts'
import { checkServer, connected, isCurrent, readMigrations, readSchemaRow } from '../migrate.ts'
import type { PostgresStoreOptions } from '../postgres-store.ts'
import { readPlace, readSchema } from './connection.ts'
import { failureOf, unavailable } from './failures.ts'
import { requireReadCommitted } from './isolation.ts'

export interface Inspection {
  /** The address of the database, without the password. */
  readonly name: string
  /** The version as the server reports it. */
  readonly version: string
  readonly schema: string
  /**
   * `missing`: the first process will create the schema. `old`: the next process that starts will
   * migrate it.
   */
  readonly schemaState: 'current' | 'old' | 'missing'
  /** Approximately how far the clock of the server is ahead of the local clock. */
  readonly clockAheadMs: number
  readonly connections: number
  readonly maxConnections: number
  /** Whether an acknowledged commit survives a crash of the server. */
  readonly waitsForDisk: boolean
}

/** @throws LullError `INVALID_INPUT`, or `STORE_UNAVAILABLE` with what to do about it */
export async function inspectPostgres(options: PostgresStoreOptions): Promise<Inspection> {
  const place = readPlace(options.url, 'postgres')
  const schema = readSchema(options.schema ?? 'lull', 'postgres.schema')
  try {
    return await connected(place, async (client) => {
      await checkServer(client)
      if (options.direct !== undefined) await requireReadCommitted(client)
      const row = await readSchemaRow(client, schema)
      const known = readMigrations().at(-1)?.number ?? 0
      const isReady = isCurrent(row, schema, known)
      const schemaState = isReady ? 'current' : row === undefined ? 'missing' : 'old'
      if (!isReady) await checkRights(client)
      return { name: place.name, schema, schemaState, ...(await facts(client)) }
    })
  } catch (error) {
    if (isLullError(error)) throw error
    throw unavailable(`${failureOf(error).why} (${place.name})`, error)
  }
}

/** @throws LullError when the user has no right to create a schema */
async function checkRights(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ may: boolean }>(
    "SELECT has_database_privilege(current_database(), 'CREATE') AS may",
  )
  if (rows[0]?.may !== true) {
    throw unavailable('the user of PostgreSQL lacks a right; let it create the schema of Lull')
  }
}

type Facts = Omit<Inspection, 'name' | 'schema' | 'schemaState'>

interface FactRow {
  readonly version: string
  readonly now: number
  readonly connections: number
  readonly max: number
  readonly sync: string
  readonly fsync: string
}

async function facts(client: pg.Client): Promise<Facts> {
  const sentAt = Date.now()
  const { rows } = await client.query<FactRow>(
    `SELECT current_setting('server_version') AS version,
       extract(epoch FROM clock_timestamp())::float8 * 1000 AS now,
       (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
       current_setting('max_connections')::integer AS max,
       current_setting('synchronous_commit') AS sync, current_setting('fsync') AS fsync`,
  )
  const [row] = rows
  if (row === undefined) throw unavailable('PostgreSQL gave no answer')
  return {
    version: row.version.split(' ')[0] ?? row.version,
    clockAheadMs: row.now - (sentAt + Date.now()) / 2,
    connections: row.connections,
    maxConnections: row.max,
    waitsForDisk: row.sync !== 'off' && row.fsync === 'on',
  }
}
