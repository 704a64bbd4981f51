/**
 * A stream of server-sent events read from raw bytes, kept from the first byte on. Nothing is missed between opening and
 * reading: frames collect in the background and `until` looks at all of them.
 */
import type { Dialect } from '../dialects/dialect.ts'
import type { Frame, WireError } from '../model.ts'
import { parseJson } from '../values.ts'

export interface SseStream {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The whole body when the answer was not an event stream. */
  readonly text: () => string
  readonly frames: readonly Frame[]
  readonly error: () => WireError | undefined
  readonly closed: () => boolean
  /** Resolves true as soon as `holds`, false when the stream ended or the deadline passed without it. */
  readonly until: (holds: () => boolean, deadlineMs: number) => Promise<boolean>
  readonly cancel: () => void
}

export async function openStream(response: Response, dialect: Dialect): Promise<SseStream> {
  const frames: Frame[] = []
  const waiters = new Set<() => void>()
  let text = ''
  let failure: WireError | undefined
  let closed = false
  const reader = response.body?.getReader()
  const streaming = (response.headers.get('content-type') ?? '').startsWith('text/event-stream')

  function take(block: string): void {
    const lines = block.split(/\r\n|\n|\r/).filter((line) => line !== '' && !line.startsWith(':'))
    const data = lines.flatMap((line) => fieldOf(line, 'data')).join('\n')
    if (data === '') return
    const parsed = parseJson(data)
    const { event, error } = dialect.frame(parsed)
    failure ??= error
    frames.push({ id: lines.flatMap((line) => fieldOf(line, 'id')).at(-1), data: parsed, event })
  }

  async function pump(): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
        if (done) break
        const chunk = decoder.decode(value, { stream: true })
        text += chunk
        rest += chunk
        const blocks = rest.split(/\r\n\r\n|\n\n|\r\r/)
        rest = blocks.pop() ?? ''
        if (streaming) blocks.forEach(take)
        for (const wake of waiters) wake()
      }
      if (streaming) take(rest)
      closed = true
    } catch {
      // An aborted read is our own doing: the stream counts as open until the server ends it.
    }
    for (const wake of waiters) wake()
  }

  const pumping = pump()
  if (!streaming) await pumping
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: () => text,
    frames,
    error: () => failure,
    closed: () => closed,
    until: (holds, deadlineMs) => waitFor(holds, () => closed, waiters, deadlineMs),
    cancel: () => void reader?.cancel().catch(() => undefined),
  }
}

export function waitFor(
  holds: () => boolean,
  over: () => boolean,
  waiters: Set<() => void>,
  deadlineMs: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle(holds()), deadlineMs)
    const wake = (): void => {
      if (holds()) settle(true)
      else if (over()) settle(false)
    }
    function settle(answer: boolean): void {
      clearTimeout(timer)
      waiters.delete(wake)
      resolve(answer)
    }
    waiters.add(wake)
    wake()
  })
}

function fieldOf(line: string, field: string): readonly string[] {
  if (!line.startsWith(`${field}:`)) return []
  return [line.slice(field.length + 1).replace(/^ /, '')]
}
