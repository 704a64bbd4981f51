/** Server-sent events from a body, as the HTML standard says they are written; only what A2A uses of it. */
export interface ServerEvent {
  /** The last id seen; empty before the first. */
  readonly id: string
  /** `message` unless the server says otherwise. */
  readonly type: string
  readonly data: string
}

/** No honest frame is longer. */
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
  // What was not finished by an empty line is not an event: the connection broke in the middle of it.
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
  // Pieces of the line that has not ended yet: a long one is not searched again with every chunk.
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
 * The chunks of a body, in every browser. A body that says nothing for `idleMs` is given up: a server that went away
 * without a word looks exactly like one that has nothing to say, except that ours breathes every 15 seconds.
 */
export async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  idleMs: number,
): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await withinIdle(reader.read(), idleMs)
      if (done) return
      yield value
    }
  } finally {
    // Also when the loop around us stops early: the connection is not left open. Nobody waits for the farewell.
    reader.cancel().catch(() => undefined)
  }
}

function withinIdle<T>(read: Promise<T>, idleMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`nothing arrived for ${idleMs / 1_000} s`))
    }, idleMs)
    read.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
