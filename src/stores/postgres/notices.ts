/**
 * Tells other processes what changed, and hears from them, over LISTEN and NOTIFY on a connection of its own. Invariants
 * (notices.test.ts):
 *  N1  a notice is a hint: it is sent after the change is durable, at most one every 5 ms, and may be lost;
 *  N2  after every interruption the listeners are told that everything may have changed, here and in the other processes;
 *  N3  a connection that delivers nothing is found by a ping to oneself, and replaced;
 *  N4  when another server has taken over, the listeners are told that committed writes may be gone.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Changes, ClusterStore } from '../../ports/store/cluster.ts'
import type { Place } from './connection.ts'
import { type Notice, noticesOf, readNotice } from './notice.ts'
import { createOutbox } from './outbox.ts'

export interface Notices extends Pick<ClusterStore, 'onChanges' | 'report'> {
  /** Resolves when the first connection listens, or could not be made. */
  readonly started: Promise<void>
  close(): Promise<void>
}

export interface NoticesOptions {
  readonly place: Place
  readonly schema: string
  /** Tells this process from the others. */
  readonly sender: string
  readonly pingEveryMs?: number
  readonly pingWaitMs?: number
}

/** Notices are collected for so long. */
const COLLECT_MS = 5
const RETRY_MS = 1_000

export function createNotices(options: NoticesOptions): Notices {
  const { place, schema, sender, pingEveryMs = 10_000, pingWaitMs = 2_000 } = options
  const listeners = new Set<(changes: Changes) => void>()
  const closing = new AbortController()
  const { signal } = closing
  const outbox = createOutbox()
  let timeline: string | undefined
  let isFirst = true
  let start: () => void = () => undefined
  const started = new Promise<void>((resolve) => {
    start = resolve
  })

  function tell(changes: Changes): void {
    for (const listener of listeners) listener(changes)
  }

  /** Runs until the connection ends. */
  async function serveConnection(client: pg.Client): Promise<void> {
    const ended = new AbortController()
    const end = (): void => ended.abort()
    signal.addEventListener('abort', end, { once: true })
    client.on('error', end)
    client.on('end', end)
    let pinged = performance.now()
    client.on('notification', ({ payload = '' }) => {
      const notice = readNotice(payload)
      if (notice === undefined) tell({ everything: true })
      else if (notice.sender !== sender) tell(notice.changes)
      else pinged = performance.now()
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${schema}`)
      await greet(client)
      await Promise.all([send(client, ended.signal), ping(client, ended.signal, () => pinged)])
    } finally {
      ended.abort()
      signal.removeEventListener('abort', end)
      client.removeAllListeners('notification')
      // Not awaited: a connection that delivers nothing does not end in order.
      client.end().catch(() => undefined)
    }
  }

  /** Whatever happened before this instant was not heard, here and, of this process, elsewhere. */
  async function greet(client: pg.Client): Promise<void> {
    const now = await timelineOf(client)
    const rolledBack = timeline !== undefined && now !== undefined && now !== timeline
    timeline = now ?? timeline
    if (rolledBack) tell({ rolledBack: true, everything: true })
    else if (!isFirst) tell({ everything: true })
    if (!isFirst) outbox.add({ everything: true })
    start()
  }

  /** Sends what was collected, one statement at a time. */
  async function send(client: pg.Client, until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await outbox.filled(until)
      await sleep(COLLECT_MS, undefined, { signal: until }).catch(() => undefined)
      if (until.aborted) return
      for (const payload of noticesOf(sender, outbox.take())) await notify(client, payload)
    }
  }

  async function ping(client: pg.Client, until: AbortSignal, heardAt: () => number): Promise<void> {
    const wait = (ms: number): Promise<unknown> =>
      sleep(ms, undefined, { signal: until, ref: false }).catch(() => undefined)
    while (!until.aborted) {
      await wait(pingEveryMs)
      if (until.aborted) return
      const sentAt = performance.now()
      const nothing: Notice = { sender, changes: {} }
      // Not awaited: a connection that delivers nothing does not answer the statement either.
      notify(client, JSON.stringify(nothing)).catch(() => undefined)
      await wait(pingWaitMs)
      if (!until.aborted && heardAt() < sentAt) throw new Error('the ping did not come back')
    }
  }

  const notify = (client: pg.Client, payload: string): Promise<unknown> =>
    client.query('SELECT pg_notify($1, $2)', [schema, payload])

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const client = new pg.Client(place.config)
      await serveConnection(client).catch(() => undefined)
      isFirst = false
      start()
      if (signal.aborted) return
      // Nothing is heard until the next connection, so the listeners look for themselves.
      tell({ everything: true })
      await sleep(RETRY_MS * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(
        () => undefined,
      )
    }
  }

  const running = run()
  return {
    started,
    onChanges(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    report: outbox.add,
    close() {
      closing.abort()
      return running
    },
  }
}

/** The timeline of the server: it changes when a standby takes over. Undefined where the server does not tell. */
async function timelineOf(client: pg.Client): Promise<string | undefined> {
  const text = 'SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline'
  const { rows } = await client.query<{ timeline: string }>(text).catch(() => ({ rows: [] }))
  return rows[0]?.timeline
}
