/**
 * Requests to change the protocol: WebSockets at `/acp` are taken, everything else is served as if it had not asked (RFC
 * 9110 §7.8). The Java client asks for HTTP/2 with every first request, body included.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { ACP_PATH, type AcpMount } from './acp-mount.ts'
import { createGuard, type GuardOptions } from './guard.ts'

/** Takes the socket, or says that it does not. */
export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean

export function createUpgrade(acp: AcpMount, options: GuardOptions): Upgrade {
  const guard = createGuard(options)
  return (request, socket, head) => {
    const { headers, url = '' } = request
    if (headers.upgrade?.toLowerCase() !== 'websocket' || url.split('?')[0] !== ACP_PATH) {
      return false
    }
    // A browser shows a WebSocket whose page may not open it only by its origin.
    const refused = guard(headers.host ?? options.host, headers.origin)
    if (refused === undefined) acp.upgrade(request, socket, head)
    else socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n')
    return true
  }
}

/**
 * Offers every upgrade; what is not taken is read again, from the first byte, by a server that knows of none.
 * @returns how to cut off all that have come this way: no server counts them among its connections any more, but the
 * first one does not close before they do
 */
export function takeUpgrades(
  server: Server,
  handler: RequestListener,
  upgrade: Upgrade,
): () => void {
  const plain = createServer(handler)
  const open = new Set<Duplex>()
  server.on('upgrade', (request, socket, head) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
    if (upgrade(request, socket, head)) return
    socket.unshift(Buffer.concat([Buffer.from(withoutUpgrade(request), 'latin1'), head]))
    plain.emit('connection', socket)
  })
  return () => {
    for (const socket of open) socket.destroy()
  }
}

const asking = new Set(['upgrade', 'connection', 'http2-settings'])

function withoutUpgrade({ method, url, rawHeaders, httpVersion }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (!asking.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[i + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
