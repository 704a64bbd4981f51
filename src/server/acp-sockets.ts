/** WebSockets of editors: accepts them, sends pings, and closes those that do not answer. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { AcpUpgrade } from '../protocols/acp/index.ts'

/** The limit of an HTTP body applies to a message too. */
const MESSAGE_BYTES = 10 * 1024 * 1024
const HEARTBEAT_MS = 30_000

const server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES })

export function accept(
  prepared: AcpUpgrade | undefined,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  if (prepared === undefined) {
    socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n')
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
    prepared.accept(webSocket)
    keepAlive(webSocket)
  })
  server.off('headers', addId)
}

/** Detects a lost peer: the connection is closed when a ping has no answer. */
function keepAlive(webSocket: WebSocket): void {
  let alive = true
  const timer = setInterval(() => {
    if (!alive) return webSocket.terminate()
    alive = false
    webSocket.ping()
  }, HEARTBEAT_MS)
  timer.unref()
  webSocket.on('pong', () => {
    alive = true
  })
  webSocket.on('close', () => clearInterval(timer))
}
