/**
 * Serves HTTP/1.1 and HTTP/2 without TLS on one port. The first bytes of a connection decide: HTTP/2 begins with `PRI `
 * (RFC 9113 §3.4), which is no method of HTTP/1.1.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How long a client may take to send its first bytes, as long as for the head of a request. */
const FIRST_BYTES_MS = 15_000

const PREFACE = Buffer.from('PRI ')

/** Passes connections that begin with HTTP/2 to `take`. Node's own handler gets all others. */
export function divertHttp2(server: Server, take: (socket: Socket) => void): void {
  const handlers = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    readFirstBytes(socket, (isHttp2) => {
      if (isHttp2) {
        // As for sockets of Node's own HTTP/2 server. Otherwise a client that hangs up would leave the socket open.
        socket.allowHalfOpen = false
        socket.on('error', () => socket.destroy())
        return take(socket)
      }
      for (const handle of handlers) handle.call(server, socket)
      socket.resume()
    })
  })
}

function readFirstBytes(socket: Socket, decide: (isHttp2: boolean) => void): void {
  let known: Buffer = Buffer.alloc(0)
  const drop = (): void => void socket.destroy()
  const read = (bytes: Buffer): void => {
    known = known.length === 0 ? bytes : Buffer.concat([known, bytes])
    const isHttp2 = known.subarray(0, PREFACE.length).equals(PREFACE.subarray(0, known.length))
    // More bytes are needed.
    if (isHttp2 && known.length < PREFACE.length) return
    for (const [event, listener] of listeners) socket.off(event, listener)
    socket.setTimeout(0)
    socket.pause()
    socket.unshift(known)
    decide(isHttp2)
  }
  const listeners = [
    ['data', read],
    ['error', drop],
    ['end', drop],
    ['timeout', drop],
  ] as const
  for (const [event, listener] of listeners) socket.on(event, listener)
  socket.setTimeout(FIRST_BYTES_MS)
}
