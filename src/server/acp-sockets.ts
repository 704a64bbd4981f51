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
    prepared.accept(webSocket)
    keepAlive(webSocket)
  })
  server.off('headers', addId)
}

/** Closes the connection of a peer that has sent nothing by the first ping, and of one that does not answer a ping. */
export function keepAlive(webSocket: WebSocket, everyMs: number = HEARTBEAT_MS): void {
  let alive = false
  const timer = setInterval(() => {
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
