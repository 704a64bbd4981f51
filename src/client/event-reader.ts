/** Server-sent events as they arrive (HTML Standard, 9.2.6): an id that stays until the next one, and data. */
export interface ServerEvent {
  /** The last id seen; empty before the first. */
  readonly id: string
  readonly data: string
}

export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerEvent, void> {
  let id = ''
  let data: string[] = []
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (data.length > 0) yield { id, data: data.join('\n') }
      data = []
      continue
    }
    const [field, value] = split(line)
    if (field === 'data') data.push(value)
    if (field === 'id' && !value.includes('\0')) id = value
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
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    // A carriage return at the very end may be half of a line end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    yield* lines
  }
}
