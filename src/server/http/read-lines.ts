/**
 * Reads JSON Lines as a stream. Each line is parsed when it is complete, so the whole text is never
 * in memory, and the event loop runs between two chunks. The limits are those of a file and of a
 * line, not those of a request.
 */
import { LullError } from '../../core/errors.ts'
import { parseStrictJson } from '../../http/strict-json.ts'

/** The limit of the whole file. */
const MOST_BYTES = 268_435_456
/**
 * The limits of one line. The result of a step can be 200 levels deep, and its record adds some
 * levels.
 */
const ofALine = { depth: 220, values: 1_000_000, names: 100_000 }
const NEWLINE = 10

export interface LinesLimits {
  /** Counts a chunk of the body. Throws when a limit is reached. */
  readonly hold?: ((bytes: number) => void) | undefined
  readonly mostBytes?: number
}

/** @throws LullError `INVALID_INPUT` with the number of the line, or `LIMIT_EXCEEDED` */
export async function readLines(
  body: AsyncIterable<Uint8Array>,
  { hold, mostBytes = MOST_BYTES }: LinesLimits = {},
): Promise<readonly unknown[]> {
  const values: unknown[] = []
  let pieces: Uint8Array[] = []
  let line = 0
  let size = 0

  const endLine = (): void => {
    line++
    const text = Buffer.concat(pieces)
    pieces = []
    if (text.every(isBlank)) return
    const parsed = parseStrictJson(text, ofALine)
    if (parsed.problem === undefined) values.push(parsed.value)
    else {
      const problem = parsed.problem.replace('The body', 'the line')
      throw new LullError('INVALID_INPUT', { path: `line ${line}`, problem })
    }
  }

  const take = (chunk: Uint8Array): void => {
    size += chunk.length
    if (size > mostBytes) {
      throw new LullError('LIMIT_EXCEEDED', { limit: 'bytes of an import', value: mostBytes })
    }
    hold?.(chunk.length)
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      pieces.push(chunk.subarray(from, end))
      from = end + 1
      endLine()
    }
    pieces.push(chunk.subarray(from))
  }

  let failure: unknown
  for await (const chunk of body) {
    // After an error, the rest is read and discarded, so that the client gets to read the refusal.
    if (failure !== undefined) continue
    try {
      take(chunk)
    } catch (error) {
      failure = error
      values.length = 0
    }
  }
  if (failure !== undefined) throw failure
  endLine()
  return values
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 9 || byte === 13
}
