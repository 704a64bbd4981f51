/** Connects stdin and stdout to a WebSocket of the process that owns the data directory. */
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { WebSocket } from 'ws'
import { withoutLongLines } from '../../protocols/acp/transports/stdio.ts'
import type { Address } from '../http/address-file.ts'

/** The largest message accepted from the other process. */
const MESSAGE_BYTES = 64 * 1024 * 1024

export interface Attached {
  /**
   * Resolves when either side has disconnected: true for our client, false for the other process.
   */
  readonly ended: Promise<boolean>
  close(): void
}

/** @param refused called for each message that is too long. Rejects if no process answers. */
export async function attachStdio(
  { url, token }: Address,
  input: Readable,
  output: Writable,
  refused: () => void = () => undefined,
): Promise<Attached> {
  const socket = await openSocket(url, token)
  const bounded = withoutLongLines(input, output, refused)
  const lines = createInterface({ input: bounded, crlfDelay: Number.POSITIVE_INFINITY })
  let over = false

  const ended = new Promise<boolean>((resolve) => {
    socket.on('close', () => resolve(over))
    socket.on('error', () => socket.terminate())
  })
  const close = (): void => {
    over = true
    socket.close()
  }
  lines.on('line', (line) => {
    if (line.trim() === '') return
    bounded.pause()
    socket.send(line, () => bounded.resume())
  })
  lines.on('close', close)
  socket.on('message', (message) => output.write(`${String(message)}\n`))
  return { ended, close }
}

function openSocket(url: string, token: string | undefined): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      maxPayload: MESSAGE_BYTES,
      perMessageDeflate: false,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
    socket.once('open', () => resolve(socket))
    socket.once('error', reject)
  })
}
