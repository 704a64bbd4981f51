/**
 * Statements on PostgreSQL. A statement is one round trip on a connection of a pool. Invariants (database.test.ts):
 *  Q1  a statement that was not carried out for a passing reason is sent again, for a bounded time;
 *  Q2  a statement that may have been carried out is sent again with `again`, so that it can recognise its own effect;
 *      a write that must be carried out once does not fail before its outcome is known, however long that takes;
 *  Q3  the server ends a statement before the client stops to wait for it, so that none is left behind on the server;
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
  /** A write that has the same effect when it is carried out twice. */
  write(text: string, values?: readonly Value[]): Promise<readonly Row[]>
  /**
   * A write that is told whether an earlier attempt may have been carried out. When it fails, nothing was written, or the
   * database was closed.
   * @param isBegun a part of the same write was carried out, so this part is too
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
  /** A pooler is in between. Nothing is set for a session, because others get it too. */
  readonly isPooled?: boolean
  readonly schema: string
  /** Connections that write at the same time. Default 4: more give no more throughput, and ten times the latency. */
  readonly writers?: number
  /** How long a statement waits for a server that cannot be used, before it fails. Default 10 s. */
  readonly waitMs?: number
  /** How long a `write` of unknown outcome is sent again. Default 30 s. */
  readonly resolveMs?: number
}

const WRITERS = 4
const READERS = 4
/** A statement that lost a race against others wins soon. */
const RACES = 5
const IDLE_MS = 30_000
/** How long a statement may still take when the database is closed. */
const CLOSE_MS = 1_000
/** The server ends a statement so much earlier than the client would. */
const EARLIER_MS = 500

/** What a statement may do when it cannot be carried out now. */
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
    // An idle connection that ends is replaced when it is needed.
    created.on('error', () => undefined)
    return created
  }
  const readers = pool(READERS)
  const writers = pool(options.writers ?? WRITERS)
  const closing = new AbortController()
  // Each statement that waits listens to it.
  setMaxListeners(0, closing.signal)
  /** Cuts the connection of each statement that is not answered yet. */
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

/** A server that says nothing must not keep a process from stopping. */
async function endWithin(ended: Promise<unknown>, sent: ReadonlySet<() => void>): Promise<void> {
  await Promise.race([ended, sleep(CLOSE_MS, undefined, { ref: false })])
  for (const cut of sent) cut()
  await ended
}

/** Without the limit a statement that waits for a lock goes on when its client has left, and each repeat adds one. */
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
  // A connection that ends while it has no statement reports it here; the statement that follows fails by itself.
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

/** Whether the connection is in order although the statement failed. */
function isUsable(error: unknown): boolean {
  return failureOf(error).kind === 'content' || isRaceLost(error)
}

/** 40001 and 40P01: the server chose this statement among several that could not go on together. */
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

/** 10 ms at first, then up to 500 ms, and up to 10 s when that has lasted for half a minute. Chance keeps processes from coming back at the same instant. */
async function pause(attempt: number, signal: AbortSignal): Promise<void> {
  const most = attempt > 60 ? 10_000 : Math.min(500, 10 * 2 ** Math.min(attempt, 6))
  await sleep(most / 2 + (Math.random() * most) / 2, undefined, { signal }).catch(() => undefined)
}
