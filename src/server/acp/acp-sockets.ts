/**
 * Accepts WebSockets of editors, limits their frames, sends pings, and closes those that do not
 * answer.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { AcpUpgrade, SocketLimits } from '../../protocols/acp/index.ts'
import type { Admission } from '../auth/admission.ts'
import type { Identity } from '../auth/identity.ts'
import type { Account, BytesInFlight } from '../http/bytes-in-flight.ts'
import { limitFrames } from './socket-frames.ts'

/** The same limit as for an HTTP body. */
const MESSAGE_BYTES = 10 * 1024 * 1024
/** The most fragments of one message. Browsers send fragments of 16 KiB and more. */
const FRAGMENTS = 1_024
const HEARTBEAT_MS = 30_000

const server = new WebSocketServer({
  noServer: true,
  maxPayload: MESSAGE_BYTES,
  maxFragments: FRAGMENTS,
  // `limitFrames` answers pings instead.
  autoPong: false,
})

/** The limits that the messages and frames of a socket count towards. */
export interface SocketDoors {
  readonly admission: Pick<Admission, 'enter' | 'take'>
  readonly inFlight: BytesInFlight
}

export function limitsOf(
  identity: Identity,
  { admission, inFlight }: SocketDoors,
): { readonly ofMessages: SocketLimits; readonly frames: Account } {
  const messages = inFlight.account(identity)
  return {
    ofMessages: {
      // Nothing to close here: the socket as a whole is closed when its credential ends.
      enter: () => admission.enter(identity, () => undefined),
      take: () => admission.take(identity),
      hold: (bytes) => messages.set(bytes),
    },
    frames: inFlight.account(identity),
  }
}

/** @param frames absent for the owner of the process, who has no limits */
export function accept(
  prepared: AcpUpgrade | undefined,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  frames?: Account,
): void {
  if (prepared === undefined) {
    socket.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\n\r\n')
    return
  }
  const { connectionId } = prepared
  const addId = (headers: string[], upgraded: IncomingMessage): void => {
    if (upgraded === request) headers.push(`Acp-Connection-Id: ${connectionId}`)
  }
  const failed = (): void => prepared.reject()
  server.on('headers', addId)
  socket.once('close', failed)
  server.handleUpgrade(request, socket, head, (webSocket) => {
    socket.off('close', failed)
    const limited = limitFrames(webSocket, socket, frames)
    prepared.accept(limited)
    keepAlive(webSocket)
  })
  server.off('headers', addId)
}

/**
 * Closes the connection of a peer that has sent nothing by the first ping, or that does not answer
 * a ping. A peer is not closed while its socket is paused, or while it has not taken earlier
 * output, because then it cannot answer (`socket-frames.ts`).
 */
export function keepAlive(webSocket: WebSocket, everyMs: number = HEARTBEAT_MS): void {
  let alive = false
  const timer = setInterval(() => {
    if (webSocket.isPaused || webSocket.bufferedAmount > 0) return
    if (!alive) return webSocket.terminate()
    alive = false
    webSocket.ping()
  }, everyMs)
  timer.unref()
  const hear = (): void => {
    alive = true
  }
  webSocket.on('message', hear)
  webSocket.on('pong', hear)
  webSocket.on('close', () => clearInterval(timer))
}
