/**
 * Copies everything from another store into an empty database, in one transaction. Other processes
 * see all of it or nothing, and an interrupted move leaves nothing behind. Invariants
 * (server/move/move-store.test.ts):
 *  T1  a database that has tasks, events or other data is not changed;
 *  T2  while the move runs, no process can start on the database.
 */
import pg from 'pg'
import { isLullError } from '../../../core/errors.ts'
import { states } from '../../../core/states.ts'
import {
  type MovedTable,
  type MoveEnd,
  type MoveTarget,
  movedTables,
} from '../../../ports/store/moving.ts'
import { toText } from '../../../ports/store/text.ts'
import { type Place, readPlace, readSchema } from '../connection/connection.ts'
import type { Row, Value } from '../connection/database.ts'
import { failureOf, unavailable } from '../connection/failures.ts'
import { BEGIN } from '../connection/isolation.ts'
import { migrate } from '../migrate.ts'
import type { PostgresStoreOptions } from '../postgres-store.ts'
import { createMovedTasks } from '../tasks/moved-tasks.ts'
import { countColumn } from '../usage.ts'

export type Query = (text: string, values?: readonly Value[]) => Promise<readonly Row[]>

const LOCK_MS = 3_000
/** The name of the value that records what was moved here. */
const NOTE = 'moved'

/**
 * @throws LullError `INVALID_INPUT`, or `STORE_UNAVAILABLE` with what to do about it. Then nothing
 * was written.
 */
export async function moveInto<T>(
  options: PostgresStoreOptions,
  work: (target: MoveTarget) => Promise<T>,
): Promise<T> {
  const place = readPlace(options.direct ?? options.url, 'postgres')
  const schema = readSchema(options.schema ?? 'lull', 'postgres.schema')
  await migrate(place, schema)
  const client = new pg.Client({ ...place.config, query_timeout: 0 })
  // A lost connection fails the statement under way. Its error event must not end the process.
  client.on('error', () => undefined)
  const query: Query = async (text, values = []) =>
    (await client.query<Row>(text, [...values])).rows
  try {
    await client.connect()
    await query(BEGIN)
    await lock(query, schema)
    const earlier = await earlierNote(query, schema)
    const result = await work(createTarget(query, schema, earlier))
    await query('COMMIT')
    return result
  } catch (error) {
    throw toSentence(error, place)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/**
 * Locks the tables. Reads still work. A process that starts waits for `workers`, and gives up after
 * a while.
 */
async function lock(query: Query, s: string): Promise<void> {
  await query('SET LOCAL statement_timeout = 0')
  await query(`SET LOCAL lock_timeout = ${LOCK_MS}`)
  await query(`LOCK TABLE ${s}.workers, ${s}.tasks, ${s}.counters IN EXCLUSIVE MODE`)
  const [row] = await query(
    `SELECT count(*)::integer AS alive FROM ${s}.workers WHERE lease_until > ${s}.clock_1()`,
  )
  const alive = Number(row?.['alive'])
  if (alive > 0) {
    throw unavailable(`running processes of Lull use the schema ${s} (${alive}); stop them first`)
  }
  await query('SET LOCAL lock_timeout = 0')
}

/**
 * The note of an earlier move, if any.
 * @throws LullError when the database has data that no move has written
 */
async function earlierNote(query: Query, s: string): Promise<string | undefined> {
  const [note] = await query(`SELECT value FROM ${s}.key_values WHERE name = $1`, [NOTE])
  if (note !== undefined) return String(note['value'])
  const names = ['tasks', ...Object.keys(movedTables)]
  const [found] = await query(
    `SELECT ${names.map((name) => `EXISTS (SELECT FROM ${s}.${name}) AS ${name}`).join(', ')}`,
  )
  const filled = names.filter((name) => found?.[name] === true)
  if (filled.length === 0) return undefined
  throw unavailable(
    `the schema ${s} is not empty (${filled.join(', ')}); drop it (DROP SCHEMA ${s} CASCADE), ` +
      'or choose another one (LULL_POSTGRES_SCHEMA)',
  )
}

function createTarget(query: Query, s: string, earlier: string | undefined): MoveTarget {
  return {
    earlier,
    ...createMovedTasks(query, s),
    async add(table, rows) {
      await query(
        insertionOf(s, table),
        movedTables[table].map((_, n) => rows.map((row) => row[n])),
      )
    },
    async count(table) {
      const [row] = await query(`SELECT count(*) AS n FROM ${s}.${table}`)
      return Number(row?.['n'])
    },
    finish: (end) => finish(query, s, end),
  }
}

/** The types of columns that are not text. */
const types: Readonly<Record<string, string>> = {
  pos: 'bigint',
  version: 'bigint',
  period: 'float8',
  amount: 'bigint',
  at: 'float8',
  created_at: 'float8',
  lifted_at: 'float8',
  received_at: 'float8',
  removed_at: 'float8',
  updated_at: 'float8',
  deleted: 'boolean',
}

function insertionOf(s: string, table: MovedTable): string {
  const columns = movedTables[table]
  const arrays = columns.map((column, n) => `$${n + 1}::${types[column] ?? 'text'}[]`)
  return `INSERT INTO ${s}.${table} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT * FROM unnest(${arrays.join(', ')})`
}

async function finish(query: Query, s: string, end: MoveEnd): Promise<void> {
  const { lastEventPos, toldUpTo, doneUntil, note } = end
  // The old store has one number line for all tenants, and tasks name positions of it.
  await query(
    `INSERT INTO ${s}.event_positions (tenant, pos)
     SELECT tenant, $1::bigint FROM ${s}.tasks UNION SELECT tenant, $1 FROM ${s}.events`,
    [lastEventPos],
  )
  await query(`UPDATE ${s}.counters SET value = value + 1 WHERE name = 'holds'`)
  await query(
    `INSERT INTO ${s}.undispatched_events (tenant, pos, hidden_until)
     SELECT tenant, pos, ${s}.clock_1() FROM ${s}.events WHERE pos > $1`,
    [toldUpTo],
  )
  await countAll(query, s)
  await query(
    `SELECT setval(pg_get_serial_sequence('${s}.holds', 'pos'), max(pos)) FROM ${s}.holds
     HAVING max(pos) IS NOT NULL`,
  )
  // Registers the process that used the old store as a dead worker, so that others complete its
  // unfinished work.
  await query(
    `INSERT INTO ${s}.workers (id, agents, lease_until, note) VALUES ($1, '{}', ${s}.clock_1(), $2)`,
    [toText('moved'), JSON.stringify({ doneUntil })],
  )
  await query(`INSERT INTO ${s}.key_values (name, value) VALUES ($1, $2)`, [NOTE, note])
}

/** Counts here, because normally the functions that write count. */
async function countAll(query: Query, s: string): Promise<void> {
  const bytesOf: Readonly<Record<string, string>> = {
    context_messages: 'tenant, principal, octet_length(message)',
    sessions: 'tenant, principal, octet_length(body)',
    events: `tenant, '', octet_length(body)`,
  }
  const names = states.map(countColumn).join(', ')
  const counts = states.map((state) => `count(*) FILTER (WHERE state = '${state}')`).join(', ')
  const noTasks = states.map(() => '0').join(', ')
  const parts = [
    `SELECT t.tenant, t.principal, t.agent, coalesce(sum(log.bytes), 0), ${counts}
     FROM ${s}.tasks t CROSS JOIN LATERAL (
       SELECT sum(octet_length(body)) AS bytes FROM ${s}.records r WHERE r.tenant = t.tenant AND r.task_id = t.id) AS log
     GROUP BY 1, 2, 3`,
    `SELECT tenant, principal, '', sum(bytes), ${noTasks} FROM (
       ${Object.entries(bytesOf)
         .map(([table, columns]) => `SELECT ${columns} FROM ${s}.${table}`)
         .join(' UNION ALL ')}) AS rest (tenant, principal, bytes)
     GROUP BY 1, 2`,
  ]
  for (const [slice, part] of parts.entries()) {
    await query(
      `INSERT INTO ${s}.usage (slice, tenant, principal, agent, bytes, ${names}) SELECT ${slice}, part.* FROM (${part}) AS part`,
    )
  }
}

function toSentence(error: unknown, { name }: Place): unknown {
  if (isLullError(error)) return error
  if (!(error instanceof pg.DatabaseError) && !isConnectionError(error)) return error
  const { kind, why } = failureOf(error)
  const advice = kind === 'lost' ? '; run the command again' : ''
  return unavailable(`${why}${advice} (${name})`, error)
}

/**
 * Whether the error is one of the connection. Such errors have no SQLSTATE. Bugs of this program
 * must not be reported as connection errors.
 */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return 'code' in error || /connection|timeout|SASL|SSL|certificate/i.test(error.message)
}
