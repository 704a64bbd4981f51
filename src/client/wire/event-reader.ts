/** Reads server-sent events (HTML standard) from a body: the fields that A2A uses. */
export interface ServerEvent {
  /** The last id seen; empty before the first. */
  readonly id: string
  /** `message` unless the server says otherwise. */
  readonly type: string
  readonly data: string
}

/** Longer frames are refused. */
const LONGEST = 64 * 1024 * 1024

export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerEvent, void> {
  let id = ''
  let type = 'message'
  let data: string[] = []
  let length = 0
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (data.length > 0) yield { id, type, data: data.join('\n') }
      type = 'message'
      data = []
      length = 0
      continue
    }
    const [field, value] = split(line)
    if (field === 'data') data.push(value)
    if (field === 'event') type = value
    if (field === 'id' && !value.includes('\0')) id = value
    length += line.length
    if (length > LONGEST) throw tooLong()
  }
  // An event without an empty line at its end is incomplete: the connection broke.
}

/** A comment begins with the colon, so its field has no name. */
function split(line: string): readonly [field: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 0) return [line, '']
  const value = line.slice(colon + 1)
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value]
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  // Chunks of the line that has not ended. They are joined once, so that a long line is not searched again with each.
  let pieces: string[] = []
  let length = 0
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true })
    pieces.push(text)
    length += text.length
    if (length > LONGEST) throw tooLong()
    if (!/[\r\n]/.test(text) && !pieces.at(-2)?.endsWith('\r')) continue
    // A carriage return at the very end may be half of a line end.
    const lines = pieces.join('').split(/\r\n|\n|\r(?!$)/)
    const rest = lines.pop() ?? ''
    pieces = [rest]
    length = rest.length
    yield* lines
  }
}

function tooLong(): Error {
  return new Error('a frame is longer than any A2A agent sends')
}

/**
 * The chunks of a body. Works in every browser. A body without data for `idleMs` is given up: a Lull server sends a
 * heartbeat every 15 seconds, so a silent connection is lost.
 * @param signal of the request. Node forgets it when it has collected the request, and the body would be read for ever
 */
export async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  idleMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await withinIdle(reader.read(), idleMs, signal)
      if (done) return
      yield value
    }
  } finally {
    // Also when the caller stops reading early. Closing the connection is not awaited.
    reader.cancel().catch(() => undefined)
  }
}

function withinIdle<T>(
  read: Promise<T>,
  idleMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const silent = (): Error => new Error(`nothing arrived for ${idleMs / 1_000} s`)
    const timer = setTimeout(() => settle(() => reject(silent())), idleMs)
    const aborted = (): void => settle(() => reject(signal?.reason))
    const settle = (end: () => void): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', aborted)
      end()
    }
    signal?.addEventListener('abort', aborted)
    if (signal?.aborted) aborted()
    read.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}
