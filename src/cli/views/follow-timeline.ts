/** Steps, tool calls and children of a task, live, from servers with `/ops/tasks/{id}/timeline`. */

import type { TimelineEntry } from '../../client/index.ts'
import { chunksOf, readEvents } from '../../client/wire/event-reader.ts'
import type { Io } from '../command.ts'
import { credentials } from '../input/server-access.ts'
import { sleep } from './follow-changes.ts'
import { oneLine } from './render.ts'

const IDLE_MS = 60_000
const RETRY_MS = 1_000
const LAST_ENTRIES_MS = 500

export interface Timeline {
  /** Resolves when the timeline has ended, or after `waitMs`. The last entries may arrive after the task has ended. */
  end(waitMs?: number): Promise<void>
}

/** @param url the address of a server, or of an agent on it @param after a position; `latest`: only entries from now on */
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
