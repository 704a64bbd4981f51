/**
 * Follows the change feed of a Lull server and the timeline of a task, also across restarts of the server.
 *
 *  L1  `connected` is called before the first change of each connection. The feed has only changes from then on, so
 *      `connected` must read the present state.
 *  L2  An error that a retry cannot fix ends the function. After any other error it connects again, with growing waits.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { isClientError } from '../../client/client-error.ts'
import type { Changes, TimelineEntry } from '../../client/index.ts'
import type { Ops } from '../../client/ops-client.ts'
import { chunksOf, readEvents } from '../../client/wire/event-reader.ts'
import type { Io } from '../command.ts'
import { credentials } from '../input/server-access.ts'
import { oneLine } from './render.ts'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000

export interface Feed {
  /** Must read the present state, because the feed has no changes from before the connection. */
  readonly connected: () => Promise<void>
  readonly changed: (changes: Changes) => Promise<void>
  readonly lost: () => void
}

export async function followChanges(
  ops: Pick<Ops, 'changes'>,
  feed: Feed,
  signal: AbortSignal,
  wait: (ms: number, signal: AbortSignal) => Promise<void> = sleep,
): Promise<void> {
  let waitMs = FIRST_WAIT_MS
  while (!signal.aborted) {
    let isFirst = true
    try {
      for await (const changes of ops.changes(signal)) {
        if (isFirst) await feed.connected()
        else await feed.changed(changes)
        isFirst = false
        waitMs = FIRST_WAIT_MS
      }
    } catch (error) {
      if (signal.aborted) return
      if (isClientError(error) && !error.isTransient) throw error
    }
    if (signal.aborted) return
    feed.lost()
    await wait(waitMs, signal)
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
}

/** Resolves after a time, or at once when the signal is aborted. Its listener is then removed from the signal. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}

const IDLE_MS = 60_000
const RETRY_MS = 1_000
const LAST_ENTRIES_MS = 500

export interface Timeline {
  /** Resolves when the timeline has ended, or after `waitMs`. The last entries may arrive after the task has ended. */
  end(waitMs?: number): Promise<void>
}

/**
 * Calls `see` for the steps, tool calls and children of a task as they happen.
 * @param url the address of a server, or of an agent on it
 * @param after a position; `latest`: only entries from now on
 */
export function followTimeline(
  url: string,
  taskId: string,
  after: number | 'latest',
  see: (entry: TimelineEntry) => void,
): Timeline {
  const gone = new AbortController()
  const following = follow(url, taskId, String(after), gone.signal, see).catch(() => undefined)
  return {
    async end(waitMs = LAST_ENTRIES_MS) {
      const timer = setTimeout(() => gone.abort(), waitMs)
      await following
      clearTimeout(timer)
    },
  }
}

async function follow(
  url: string,
  taskId: string,
  first: string,
  signal: AbortSignal,
  see: (entry: TimelineEntry) => void,
): Promise<void> {
  const server = url.replace(/\/+$/, '').replace(/\/agents\/[^/]+$/, '')
  let after = first
  while (!signal.aborted) {
    const query = `${server}/ops/tasks/${encodeURIComponent(taskId)}/timeline?after=${after}`
    try {
      const headers = { accept: 'text/event-stream', ...credentials() }
      const response = await fetch(query, { headers, signal })
      if (response.status === 429 || response.status >= 500) throw new Error('not ready')
      // The server is not Lull, or the caller may not read the timeline.
      if (!response.ok || response.body === null) return
      for await (const { id, data } of readEvents(chunksOf(response.body, IDLE_MS, signal))) {
        after = id
        see(JSON.parse(data) as TimelineEntry)
      }
      return
    } catch {
      // The server is unreachable or not ready. Try again later.
      await sleep(RETRY_MS, signal)
    }
  }
}

const printedKinds: ReadonlySet<string> = new Set(['step', 'tool', 'child'])

/** Prints steps, tool calls and children. Frames of the task show all other entries. */
export function printEntry({ kind, name, outcome, text }: TimelineEntry, io: Io): void {
  if (!printedKinds.has(kind)) return
  const words = [kind, name, outcome, text].filter((word) => word !== undefined)
  io.print(words.map(oneLine).join('  '))
}
