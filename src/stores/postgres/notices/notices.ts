/**
 * Tells other processes what changed, and hears from them, over LISTEN and NOTIFY on a connection of its own. Invariants
 * (notices.test.ts):
 *  N1  a notice is a hint: it is sent after the change is durable, at most one every 5 ms, and may be lost;
 *  N2  after every interruption the listeners are told that everything may have changed, here and in the other processes;
 *  N3  a connection that delivers nothing is found by a ping to oneself, and replaced;
 *  N4  when another server has taken over, the listeners are told that committed writes may be gone;
 *  N5  a notice that is too long for PostgreSQL is sent in fragments, and heard as one or not at all.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Changes, ClusterStore } from '../../../ports/store/cluster.ts'
import type { Place } from '../connection/connection.ts'
import { type NoticeConnectionDeps, serveConnection } from './notice-connection.ts'
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

  /** Notices before this instant are lost: those of others here, and those of this process elsewhere. */
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
