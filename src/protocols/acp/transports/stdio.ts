/**
 * Reads and writes lines of JSON on a pair of Node streams, for editors that start the agent as a
 * process.
 */

import { Readable, Transform, Writable } from 'node:stream'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk'

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

/** The limit of the SDK. */
const MAX_LINE_BYTES: number = 32 * 1024 * 1024

const NEWLINE = 0x0a
const START_BYTES = 1_024
/** Finds the id of a request, if only short members precede it. */
const ID =
  /^\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,)*\s*"id"\s*:\s*(-?\d{1,15}|"[^"\\]*")\s*[,}]/

/**
 * Rejects a line that is too long, and continues with the next one. The SDK would end the
 * connection without an error.
 * @param output gets an error in place of each rejected line
 * @param refused called for each rejected line
 */
export function withoutLongLines(
  input: Readable,
  output: Writable,
  refused: () => void,
  maxBytes: number = MAX_LINE_BYTES,
): Readable {
  let line: Buffer[] = []
  let bytes = 0
  let isSkipping = false

  function refuse(): void {
    const start = Buffer.concat(line).toString('utf8', 0, START_BYTES)
    const id: unknown = JSON.parse(ID.exec(start)?.[1] ?? 'null')
    const message = `The message is longer than ${maxBytes} bytes`
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32600, message } })}\n`)
    line = []
    isSkipping = true
    refused()
  }

  const lines = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0
      while (from < chunk.length) {
        const newline = chunk.indexOf(NEWLINE, from)
        const end = newline === -1 ? chunk.length : newline + 1
        if (!isSkipping) {
          line.push(chunk.subarray(from, end))
          bytes += end - from
          // The newline is not counted.
          if (bytes > maxBytes + 1) refuse()
        }
        if (newline !== -1) {
          for (const part of line) this.push(part)
          line = []
          bytes = 0
          isSkipping = false
        }
        from = end
      }
      done()
    },
    flush(done) {
      for (const part of line) this.push(part)
      done()
    },
  })
  input.on('error', (error) => lines.destroy(error))
  return input.pipe(lines)
}
