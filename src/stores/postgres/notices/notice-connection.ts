/** Sends and receives notices over one connection until it ends. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createNoticeReader, type Notice, noticesOf } from './notice.ts'
import type { Outbox } from './outbox.ts'

export interface NoticeConnectionDeps {
  readonly schema: string
  /** The id of this process as a sender. */
  readonly sender: string
  readonly outbox: Pick<Outbox, 'filled' | 'take'>
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal
  readonly pingEveryMs: number
  readonly pingWaitMs: number
  /** Called when the connection has begun to listen. */
  readonly listening: (client: pg.Client) => Promise<void>
  /** Called for each notice of another process. Undefined: the text was not a notice of Lull. */
  readonly heard: (notice: Notice | undefined) => void
}

/** Notices are collected for this long before they are sent. */
const COLLECT_MS = 5

/** Connects the client and serves notices. Resolves or rejects when the connection has ended. */
export async function serveConnection(
  client: pg.Client,
  deps: NoticeConnectionDeps,
): Promise<void> {
  const { schema, sender, closing, listening, heard } = deps
  const ended = new AbortController()
  const end = (): void => ended.abort()
  closing.addEventListener('abort', end, { once: true })
  client.on('error', end)
  client.on('end', end)
  const read = createNoticeReader()
  let pinged = performance.now()
  client.on('notification', ({ payload = '' }) => {
    const notice = read(payload)
    if (notice === 'incomplete') return
    if (notice?.sender === sender) pinged = performance.now()
    else heard(notice)
  })
  try {
    await client.connect()
    await client.query(`LISTEN ${schema}`)
    await listening(client)
    const { signal } = ended
    await Promise.all([send(client, deps, signal), ping(client, deps, signal, () => pinged)])
  } finally {
    ended.abort()
    closing.removeEventListener('abort', end)
    client.removeAllListeners('notification')
    // Not awaited, because a connection that delivers nothing cannot be closed in order.
    client.end().catch(() => undefined)
  }
}

/** Sends collected notices, one statement at a time. */
async function send(
  client: pg.Client,
  { schema, sender, outbox }: NoticeConnectionDeps,
  until: AbortSignal,
): Promise<void> {
  while (!until.aborted) {
    await outbox.filled(until)
    await sleep(COLLECT_MS, undefined, { signal: until }).catch(() => undefined)
    if (until.aborted) return
    for (const payload of noticesOf(sender, outbox.take())) await notify(client, schema, payload)
  }
}

async function ping(
  client: pg.Client,
  { schema, sender, pingEveryMs, pingWaitMs }: NoticeConnectionDeps,
  until: AbortSignal,
  heardAt: () => number,
): Promise<void> {
  const wait = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal: until, ref: false }).catch(() => undefined)
  while (!until.aborted) {
    await wait(pingEveryMs)
    if (until.aborted) return
    const sentAt = performance.now()
    const nothing: Notice = { sender, changes: {} }
    // Not awaited, because a connection that delivers nothing does not answer the statement either.
    notify(client, schema, JSON.stringify(nothing)).catch(() => undefined)
    await wait(pingWaitMs)
    if (!until.aborted && heardAt() < sentAt) throw new Error('the ping did not come back')
  }
}

function notify(client: pg.Client, schema: string, payload: string): Promise<unknown> {
  return client.query('SELECT pg_notify($1, $2)', [schema, payload])
}
