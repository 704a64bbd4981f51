/** Prints steps, tool calls and children of a task live, from servers with `/ops/tasks/{id}/timeline`. */
import { chunksOf, readEvents } from '../client/event-reader.ts'
import { textIn } from '../client/shape.ts'
import type { Io } from './command.ts'
import { plain } from './render.ts'

const IDLE_MS = 60_000
const RETRY_MS = 1_000

export interface Timeline {
  /** Resolves when the timeline has ended, or after `waitMs`. The last entries may arrive after the task has ended. */
  end(waitMs: number): Promise<void>
}

/** @param url of a server, or of an agent on it @param after `latest`: only entries from now on */
export function followTimeline(
  url: string,
  taskId: string,
  after: '0' | 'latest',
  io: Io,
): Timeline {
  const gone = new AbortController()
  const following = follow(url, taskId, after, gone.signal, (line) => io.print(line)).catch(
    () => undefined,
  )
  return {
    async end(waitMs) {
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
  show: (line: string) => void,
): Promise<void> {
  const server = url.replace(/\/+$/, '').replace(/\/agents\/[^/]+$/, '')
  let after = first
  while (!signal.aborted) {
    const query = `${server}/ops/tasks/${encodeURIComponent(taskId)}/timeline?after=${after}`
    try {
      const response = await fetch(query, { headers: { accept: 'text/event-stream' }, signal })
      // The server is not Lull, or the caller may not read the timeline.
      if (!response.ok || response.body === null) return
      for await (const { id, data } of readEvents(chunksOf(response.body, IDLE_MS))) {
        after = id
        const line = entryLine(JSON.parse(data))
        if (line !== undefined) show(line)
      }
      return
    } catch {
      // The server is unreachable. Try again later.
      await pause(RETRY_MS, signal)
    }
  }
}

const shown: ReadonlySet<string> = new Set(['step', 'tool', 'child'])

function entryLine(given: unknown): string | undefined {
  const kind = textIn(given, 'kind') ?? ''
  if (!shown.has(kind)) return undefined
  const words = [kind, ...['name', 'outcome', 'text'].map((member) => textIn(given, member))]
  return words
    .flatMap((word) => (word === undefined ? [] : [plain(word)]))
    .join('  ')
    .replaceAll('\n', ' ')
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
