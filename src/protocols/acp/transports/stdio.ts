/**
 * Reads and writes lines of JSON on a pair of Node streams, for editors that start the agent as a
 * process.
 */
import { Readable, Writable } from 'node:stream'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk'
import { MAX_LINE_BYTES, withoutLongLines } from './long-lines.ts'

/**
 * A stream for `acp.connect`: `stdioStream(process.stdout, process.stdin)`. A line of more than 32
 * MiB is answered with an error.
 * @param refused called for each such line
 */
export function stdioStream(
  output: Writable,
  input: Readable,
  refused: () => void = () => undefined,
): Stream {
  const lines = withoutLongLines(input, output, refused)
  // The longest line plus its end: a newline, or a carriage return and a newline.
  const maxMessageBytes = MAX_LINE_BYTES + 2
  return ndJsonStream(Writable.toWeb(output), Readable.toWeb(lines), { maxMessageBytes })
}
