/** A client of HTTP/2 that sends frames as it likes, one byte after the other. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export const DATA = 0
export const HEADERS = 1
export const RST_STREAM = 3
export const SETTINGS = 4
export const PING = 6
/** An answer to a ping, in `received`. */
export const PING_ACK = 0x106
export const GOAWAY = 7
export const CONTINUATION = 9
export const END_STREAM = 1
export const ACK = 1
export const END_HEADERS = 4

export interface RawHttp2 {
  readonly socket: Socket
  /** The types of the frames that came. */
  readonly received: readonly number[]
  send(...frames: readonly Buffer[]): void
  /** Resolves when the server has disconnected. */
  readonly closed: Promise<unknown>
}

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Header fields as literals of HPACK (RFC 7541 §6.2.2). */
export function fields(headers: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value)
    return Buffer.concat([lengthOf(bytes.length), bytes])
  }
  return Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]),
  )
}

function lengthOf(length: number): Buffer {
  if (length < 127) return Buffer.from([length])
  const bytes = [127]
  let rest = length - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

export const callOf = (path: string): Record<string, string> => ({
  ':method': 'POST',
  ':scheme': 'http',
  ':path': path,
  ':authority': '127.0.0.1',
  'content-type': 'application/grpc',
  te: 'trailers',
})

/** A message of gRPC: its flag, its length, its bytes. */
export function messageOf(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

/** Connects, and answers settings and pings of the server unless it plays dead. */
export async function openRaw(port: number, { isDead = false } = {}): Promise<RawHttp2> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  const received: number[] = []
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const length = rest.readUIntBE(0, 3)
      const [type, flags] = [rest.readUInt8(3), rest.readUInt8(4)]
      received.push(type === PING && flags === ACK ? PING_ACK : type)
      const payload = rest.subarray(9, 9 + length)
      if (!isDead && type === PING && flags === 0) socket.write(frame(PING, ACK, 0, payload))
      rest = rest.subarray(9 + length)
    }
  })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  socket.write(frame(SETTINGS, 0, 0))
  return {
    socket,
    received,
    send: (...frames) => void socket.write(Buffer.concat(frames)),
    closed,
  }
}
