/**
 * Rejects a line that is too long, and continues with the next one. The SDK would end the
 * connection without an error.
 */
import { type Readable, Transform, type Writable } from 'node:stream'

/** The limit of the SDK. */
export const MAX_LINE_BYTES: number = 32 * 1024 * 1024

const NEWLINE = 0x0a
const START_BYTES = 1_024
/** Finds the id of a request, if only short members precede it. */
const ID =
  /^\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,)*\s*"id"\s*:\s*(-?\d{1,15}|"[^"\\]*")\s*[,}]/

/**
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
