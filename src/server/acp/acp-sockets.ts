/**
 * Accepts WebSockets of editors, limits their frames, sends pings, and closes those that do not
 * answer.
 */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { AcpSocket, AcpUpgrade, SocketLimits } from '../../protocols/acp/index.ts'
import type { Admission } from '../auth/admission.ts'
import type { Identity } from '../auth/identity.ts'
import type { Account, BytesInFlight } from '../http/bytes-in-flight.ts'

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
 * output, because then it cannot answer (`limitFrames`).
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

const LARGE_BYTES = 65_536
/** The approximate memory of a chunk beside its bytes. */
const PIECE_BYTES = 256
const CONTROL_FRAMES = 100
const PERIOD_MS = 30_000
/** The number of periods in which a message must be complete. */
const PERIODS = 4
/** How long a client may take to answer the closing handshake. */
const CLOSE_MS = 1_000

/** WebSocket close codes. */
const GOING_AWAY = 1001
const POLICY = 1008
const TRY_LATER = 1013

/**
 * Limits the frames of a WebSocket. The limits of whole messages are in `socket-stream.ts`.
 *
 * WF1  From 64 KiB on, the bytes of an incomplete message count as bytes in flight of its sender.
 *      If these exceed their limit, the socket is closed (1013).
 * WF2  At most one pong waits until the client takes it: the one for the latest ping (RFC 6455,
 *      5.5.3). A client that sends more than 100 pings and pongs in 30 s is disconnected (1008).
 * WF3  After each chunk that is read from the socket, other connections are served.
 * WF4  A client that takes nothing of what was sent for 30 s, or does not complete a message in 120 s, is disconnected.
 *
 * @param account absent: only the limits of a single socket apply
 */
export function limitFrames(webSocket: WebSocket, socket: Duplex, account?: Account): AcpSocket {
  let held = 0
  /** The bytes of the chunk being read. Its end may be the beginning of the next message. */
  let pieceBytes = 0
  let control = 0
  let periods = 0
  /** The latest unanswered ping, while the answer to an earlier one waits. */
  let pinged: Buffer | undefined
  let pongs = 0
  /**
   * Why the socket is not read: `messages`, its messages must wait; `turn`, other connections are
   * served; `forGood`, it is being closed.
   */
  const pauses = { messages: false, turn: false, forGood: false }

  function hold(bytes: number): void {
    held = bytes
    const reached = account?.set(held < LARGE_BYTES ? 0 : held)
    if (reached !== undefined) {
      close(TRY_LATER, `The limit ${reached.limit} (${reached.value}) is reached`)
    }
  }

  function readOn(): void {
    if (!pauses.messages && !pauses.turn && !pauses.forGood) webSocket.resume()
  }

  function pieceRead(piece: Buffer): void {
    pieceBytes = piece.length + PIECE_BYTES
    if (!pauses.forGood) hold(held + pieceBytes)
    pauses.turn = true
    webSocket.pause()
    setImmediate(() => {
      pauses.turn = false
      readOn()
    })
  }

  function messageRead(): void {
    periods = 0
    hold(Math.min(held, pieceBytes))
  }

  function countControl(): void {
    if (++control === CONTROL_FRAMES + 1) close(POLICY, 'Too many pings')
  }

  function answerPing(data: Buffer): void {
    countControl()
    pinged = Buffer.from(data)
    if (pongs === 0) pong()
  }

  function pong(): void {
    const data = pinged
    pinged = undefined
    if (data === undefined || webSocket.readyState !== webSocket.OPEN) return
    pongs++
    webSocket.pong(data, false, () => {
      pongs--
      pong()
    })
  }

  /**
   * Closes the socket. If the client is at fault, nothing more is read, so that it cannot continue
   * to send.
   */
  function close(code?: number, reason?: string): void {
    webSocket.close(code, reason)
    pauses.forGood = code !== GOING_AWAY
    if (pauses.forGood) webSocket.pause()
    setTimeout(() => webSocket.terminate(), CLOSE_MS).unref()
  }

  const timer = setInterval(() => {
    control = 0
    if (held >= LARGE_BYTES && ++periods > PERIODS) webSocket.terminate()
  }, PERIOD_MS)
  timer.unref()
  if ('setTimeout' in socket && typeof socket.setTimeout === 'function') {
    socket.setTimeout(PERIOD_MS, () => {
      if (webSocket.bufferedAmount > 0) webSocket.terminate()
    })
  }
  socket.prependListener('data', pieceRead)
  webSocket.on('message', messageRead)
  webSocket.on('ping', answerPing)
  webSocket.on('pong', countControl)
  webSocket.on('close', () => {
    clearInterval(timer)
    account?.set(0)
  })

  return {
    get bufferedAmount() {
      return webSocket.bufferedAmount
    },
    send: (data, taken) => webSocket.send(data, () => taken?.()),
    close,
    on: (type, listener) => webSocket.on(type, listener),
    pause() {
      pauses.messages = true
      webSocket.pause()
    },
    resume() {
      pauses.messages = false
      readOn()
    },
  }
}
