/** Reads server-sent events (HTML standard) from a body: the fields `id`, `event` and `data`, which A2A uses. */
export interface ServerEvent {
  /** The id of this event, or else the last id before it; empty before the first id. */
  readonly id: string
  /** `message` unless the server says otherwise. */
  readonly type: string
  readonly data: string
}

/** The longest frame, in characters. Longer frames end the stream with an error. */
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
    const [field, value] = splitLine(line)
    if (field === 'data') data.push(value)
    if (field === 'event') type = value
    if (field === 'id' && !value.includes('\0')) id = value
    length += line.length
    if (length > LONGEST) throw tooLong()
  }
  // An event without an empty line at its end is incomplete, because the connection broke. It is dropped.
}

/** A comment line begins with a colon, so its field is the empty text. */
function splitLine(line: string): readonly [field: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 0) return [line, '']
  const value = line.slice(colon + 1)
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value]
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  // Chunks of the line that has not ended. They are joined at the end of the line, so that a long line is searched once.
  let pieces: string[] = []
  let length = 0
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true })
    pieces.push(text)
    length += text.length
    if (length > LONGEST) throw tooLong()
    if (!/[\r\n]/.test(text) && !pieces.at(-2)?.endsWith('\r')) continue
    // A carriage return at the end of a chunk may be the first half of a line end.
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
 * The chunks of a body, in every browser. Reading fails after `idleMs` without data: a Lull server sends a heartbeat every
 * 15 seconds, so a silent connection is lost.
 * @param signal the signal of the request. Node detaches it once the request object is garbage-collected, so it is also
 * listened to here; otherwise an abort would not end the read.
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
    // This also runs when the caller stops reading early. Closing the connection is not awaited.
    reader.cancel().catch(() => undefined)
  }
}

function withinIdle<T>(
  read: Promise<T>,
  idleMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const idleError = (): Error => new Error(`nothing arrived for ${idleMs / 1_000} s`)
    const timer = setTimeout(() => settle(() => reject(idleError())), idleMs)
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
