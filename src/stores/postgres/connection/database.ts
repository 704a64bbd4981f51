/**
 * Statements on PostgreSQL. A statement is one round trip on a connection of a pool. Invariants (database.test.ts):
 *  Q1  a statement that certainly had no effect, for a temporary reason, is sent again, for a
 *      bounded time;
 *  Q2  a statement that may have had its effect is sent again with `again`, so that it can
 *      recognise that effect; a write that must happen exactly once does not fail before its
 *      outcome is known, however long that takes;
 *  Q3  the server ends a statement before the client stops waiting for it, so that none keeps
 *      running on the server;
 *  Q4  a connection that failed, or leads to a read-only server, is not used again.
 */
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Place } from './connection.ts'
import { type Failure, failureOf, unavailable } from './failures.ts'
import { SET_ISOLATION } from './isolation.ts'

export type Value = string | number | boolean | null | undefined | readonly Value[]
export type Row = Readonly<Record<string, unknown>>

export interface Database {
  /** The schema that qualifies every name. */
  readonly schema: string
  read(text: string, values?: readonly Value[]): Promise<readonly Row[]>
  /** A write that has the same effect when it runs twice. */
  write(text: string, values?: readonly Value[]): Promise<readonly Row[]>
  /**
   * A write whose values depend on whether an earlier attempt may have had its effect (`again`). If
   * it rejects, nothing was written, or the database was closed.
   * @param isBegun an earlier part of the same write was carried out, so this part must not be
   * given up
   */
  writeOnce(
    text: string,
    values: (again: boolean) => readonly Value[],
    isBegun?: boolean,
  ): Promise<readonly Row[]>
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly place: Place
  /**
   * Set when the connection goes through a pooler. Session settings are not changed then, because
   * they would affect other clients.
   */
  readonly isPooled?: boolean
  readonly schema: string
  /**
   * The number of connections for writes. Default 4: more give no higher throughput, and ten times
   * the latency.
   */
  readonly writers?: number
  /** How long a statement waits for a server that cannot be used before it fails. Default 10 s. */
  readonly waitMs?: number
  /** How long a `write` with unknown outcome is repeated. Default 30 s. */
  readonly resolveMs?: number
}

const WRITERS = 4
const READERS = 4
/**
 * The most repetitions of a statement that lost a race against others. It usually succeeds soon.
 */
const RACES = 5
const IDLE_MS = 30_000
/** How long statements under way may still take when the database is closed. */
const CLOSE_MS = 1_000
/** How much earlier the server ends a statement than the client would. */
const EARLIER_MS = 500

/** How a statement may be repeated when it fails. */
interface Terms {
  readonly once: boolean
  readonly isBegun: boolean
}

const repeatable: Terms = { once: false, isBegun: false }

export function openDatabase(options: DatabaseOptions): Database {
  const { place, schema, isPooled = false, waitMs = 10_000, resolveMs = 30_000 } = options
  const pool = (max: number): pg.Pool => {
    const created = new pg.Pool({
      ...place.config,
      max,
      idleTimeoutMillis: IDLE_MS,
      ...(isPooled ? {} : { onConnect: (client) => prepareSession(client, place) }),
    })
    // An idle connection that ends is replaced on demand, so its error is ignored.
    created.on('error', () => undefined)
    return created
  }
  const readers = pool(READERS)
  const writers = pool(options.writers ?? WRITERS)
  const closing = new AbortController()
  // Each waiting statement adds a listener, so the warning about many listeners is switched off.
  setMaxListeners(0, closing.signal)
  /** One function per unanswered statement, which closes its connection. */
  const sent = new Set<() => void>()

  async function run(
    from: pg.Pool,
    text: string,
    values: (again: boolean) => readonly Value[],
    { once, isBegun }: Terms,
  ): Promise<readonly Row[]> {
    const began = performance.now()
    let again = false
    let races = 0
    for (let attempt = 1; ; attempt++) {
      if (closing.signal.aborted) throw unavailable('the store is closed')
      let wasSent = false
      try {
        const client = await from.connect()
        wasSent = true
        return await send(client, text, values(again), sent)
      } catch (error) {
        const failure = failureOf(error)
        if (failure.kind === 'content') throw error
        again ||= failure.kind === 'lost' && wasSent && from === writers
        const isRace = isRaceLost(error)
        if (isRace) races++
        const patience = again ? resolveMs : waitMs
        const isPatient = races < RACES && performance.now() - began < patience
        const mustEnd = isBegun || (once && again)
        if (closing.signal.aborted) throw unavailable('the store is closed')
        if (!mustEnd && (failure.kind === 'refused' || !isPatient))
          throw toUnavailable(failure, again, place, error)
        await pause(isRace ? races : attempt, closing.signal)
      }
    }
  }

  let closed: Promise<void> | undefined
  return {
    schema,
    read: (text, values = []) => run(readers, text, () => values, repeatable),
    write: (text, values = []) => run(writers, text, () => values, repeatable),
    writeOnce: (text, values, isBegun = false) =>
      run(writers, text, values, { once: true, isBegun }),
    close() {
      closing.abort()
      closed ??= endWithin(Promise.all([readers.end(), writers.end()]), sent)
      return closed
    },
  }
}

/**
 * Closes connections after a while: a server that does not answer must not keep the process from
 * stopping.
 */
async function endWithin(ended: Promise<unknown>, sent: ReadonlySet<() => void>): Promise<void> {
  await Promise.race([ended, sleep(CLOSE_MS, undefined, { ref: false })])
  for (const cut of sent) cut()
  await ended
}

/**
 * Sets the isolation level and a time limit. Without the limit, a statement that waits for a lock
 * would continue after its client has given up, and each repetition would add another.
 */
async function prepareSession(client: pg.ClientBase, { config }: Place): Promise<void> {
  const limitMs = (config.query_timeout ?? 0) - EARLIER_MS
  const limit = limitMs > 0 ? `; SET statement_timeout = ${limitMs}` : ''
  await client.query(`${SET_ISOLATION}${limit}`)
}

async function send(
  client: pg.PoolClient,
  text: string,
  values: readonly Value[],
  sent: Set<() => void>,
): Promise<readonly Row[]> {
  let failed: unknown
  let isCut = false
  const cut = (): void => {
    isCut = true
    client.release(true)
  }
  sent.add(cut)
  // A connection that ends between statements emits an error here. The next statement then fails by
  // itself.
  const ended = (): void => undefined
  client.on('error', ended)
  try {
    const { rows } = await client.query<Row>(text, [...values])
    return rows
  } catch (error) {
    failed = error
    throw error
  } finally {
    client.off('error', ended)
    sent.delete(cut)
    if (!isCut) client.release(failed !== undefined && !isUsable(failed))
  }
}

/** Whether the connection can be used again although the statement failed. */
function isUsable(error: unknown): boolean {
  return failureOf(error).kind === 'content' || isRaceLost(error)
}

/**
 * Whether the server aborted this statement because it conflicted with others (40001 and 40P01).
 */
function isRaceLost(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return code === '40001' || code === '40P01'
}

function toUnavailable(
  { why }: Failure,
  again: boolean,
  { name }: Place,
  cause: unknown,
): ReturnType<typeof unavailable> {
  const what = again ? `${why}, and it is unknown whether this was written` : why
  return unavailable(`${what} (${name})`, cause)
}

/**
 * Waits before the next attempt: 10 ms at first, then up to 500 ms, and up to 10 s after half a
 * minute of failures. The random part keeps processes from retrying at the same instant.
 */
async function pause(attempt: number, signal: AbortSignal): Promise<void> {
  const most = attempt > 60 ? 10_000 : Math.min(500, 10 * 2 ** Math.min(attempt, 6))
  await sleep(most / 2 + (Math.random() * most) / 2, undefined, { signal }).catch(() => undefined)
}
