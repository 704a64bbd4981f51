/**
 * Exchanges changes with other processes by LISTEN and NOTIFY on a separate connection. Invariants
 * (notices.test.ts):
 *  N1  a notice is only a hint: it is sent after the change is durable, at most one every 5 ms, and
 *      may be lost;
 *  N2  after every interruption, listeners here and in other processes are notified that anything
 *      may have changed;
 *  N3  a connection that delivers nothing is detected by a ping to oneself, and replaced;
 *  N4  when another database server has taken over, listeners are notified that committed writes
 *      may be lost;
 *  N5  a notice that is too long for PostgreSQL is sent in fragments, and received as a whole or
 *      not at all.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Changes, ClusterStore } from '../../../ports/store/cluster.ts'
import type { Place } from '../connection/connection.ts'
import { type NoticeConnectionDeps, serveConnection } from './notice-connection.ts'
import { createOutbox } from './outbox.ts'

export interface Notices extends Pick<ClusterStore, 'onChanges' | 'report'> {
  /** Resolves when the first connection listens, or could not be established. */
  readonly started: Promise<void>
  close(): Promise<void>
}

export interface NoticesOptions {
  readonly place: Place
  readonly schema: string
  /** The id of this process as a sender. */
  readonly sender: string
  readonly pingEveryMs?: number
  readonly pingWaitMs?: number
}

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

  /**
   * Notices sent before the connection listened are lost: those of others to this process, and
   * those of this process to others.
   */
  async function greet(client: pg.Client): Promise<void> {
    const now = await timelineOf(client)
    const rolledBack = timeline !== undefined && now !== undefined && now !== timeline
    timeline = now ?? timeline
    if (rolledBack) tell({ rolledBack: true, everything: true })
    else if (!isFirst) tell({ everything: true })
    if (!isFirst) outbox.add({ everything: true })
    start()
  }

  const connection: NoticeConnectionDeps = {
    schema,
    sender,
    outbox,
    closing: signal,
    pingEveryMs,
    pingWaitMs,
    listening: greet,
    heard: (notice) => tell(notice?.changes ?? { everything: true }),
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const client = new pg.Client(place.config)
      await serveConnection(client, connection).catch(() => undefined)
      isFirst = false
      start()
      if (signal.aborted) return
      // Until the next connection no notice arrives, so listeners are told to check for changes
      // themselves.
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

/**
 * The timeline of the server, which changes when a standby takes over. Undefined if the server does
 * not tell it.
 */
async function timelineOf(client: pg.Client): Promise<string | undefined> {
  const text = 'SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline'
  const { rows } = await client.query<{ timeline: string }>(text).catch(() => ({ rows: [] }))
  return rows[0]?.timeline
}
