/**
 * Handles HTTP upgrades. WebSockets at `/acp` are accepted. Other upgrade requests are served as
 * plain requests (RFC 9110 §7.8), because the Java HTTP client asks for HTTP/2 with every first
 * request, even with one that has a body.
 */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { isLullError } from '../../core/errors.ts'
import type { Admission } from '../auth/admission.ts'
import type { Authenticate } from '../auth/authenticate.ts'
import { acpScopes, missing } from '../auth/gate.ts'
import type { RefusedAttempts } from '../auth/refused-attempts.ts'
import type { BytesInFlight } from '../http/bytes-in-flight.ts'
import { createGuard, type GuardOptions, repeatedHeader } from '../http/guard.ts'
import { ACP_PATH, type AcpMount } from './acp-mount.ts'

const TOO_MANY = 'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nConnection: close\r\n\r\n'
const FORBIDDEN = 'HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n'
const UNAVAILABLE =
  'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\n'
const UNAUTHORIZED =
  'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm="lull"\r\nConnection: close\r\n\r\n'

/** Takes over the socket and returns true, or returns false. */
export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean

export interface UpgradeDeps {
  readonly authenticate: Authenticate
  readonly admission: Pick<Admission, 'enter' | 'take'>
  readonly inFlight: BytesInFlight
  readonly refused: RefusedAttempts
}

export function createUpgrade(
  acp: Pick<AcpMount, 'upgrade'>,
  { authenticate, admission, inFlight, refused: attempts }: UpgradeDeps,
  options: GuardOptions,
): Upgrade {
  const guard = createGuard(options)

  async function admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const header = (name: string): string | undefined => {
      const value = request.headers[name]
      return typeof value === 'string' ? value : undefined
    }
    const identity = await authenticate({
      method: 'GET',
      path: ACP_PATH,
      header,
      all: (name) => request.headersDistinct[name] ?? [],
      peer: request.socket.remoteAddress,
    })
    if (identity === undefined) {
      attempts.ofStranger(request, 'UNAUTHENTICATED')
      return void socket.end(UNAUTHORIZED)
    }
    if (missing(identity, acpScopes) !== undefined) {
      attempts.ofCaller(request, identity)
      return void socket.end(FORBIDDEN)
    }
    // A closed socket emits no further `close` event, so a slot taken for it here would never be
    // freed.
    if (socket.destroyed) return
    const entered = admission.enter(identity, () => socket.destroy())
    if (typeof entered !== 'function') return void socket.end(TOO_MANY)
    socket.on('close', entered)
    acp.upgrade(request, socket, head, identity, { admission, inFlight })
  }

  return (request, socket, head) => {
    const { headers, url = '' } = request
    if (headers.upgrade?.toLowerCase() !== 'websocket' || url.split('?')[0] !== ACP_PATH) {
      return false
    }
    // For WebSockets from browsers, the check of the origin is the only protection, because CORS
    // does not apply to them.
    const refused = guard(headers.host ?? options.host, headers.origin)
    if (repeatedHeader(request) !== undefined)
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    else if (refused !== undefined) {
      attempts.ofStranger(request, refused.code)
      socket.end(FORBIDDEN)
    } else {
      admit(request, socket, head).catch((error: unknown) =>
        isLullError(error, 'STORE_UNAVAILABLE') ? socket.end(UNAVAILABLE) : socket.destroy(),
      )
    }
    return true
  }
}

/**
 * Offers every upgrade to `upgrade`. If it is not taken, the request is replayed to the same server
 * without its upgrade headers, so that the server's timeouts apply.
 * @returns a function that destroys all upgraded sockets. `closeAllConnections` does not include
 * them, but the server does not close while they are open.
 */
export function takeUpgrades(server: Server, upgrade: Upgrade): () => void {
  const open = new Set<Duplex>()
  server.on('upgrade', (request, socket, head) => {
    // A connection occurs here again for each of its requests that asks for an upgrade.
    if (!open.has(socket)) {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
      socket.on('error', () => socket.destroy())
    }
    if (upgrade(request, socket, head)) return
    socket.unshift(Buffer.concat([Buffer.from(withoutUpgrade(request), 'latin1'), head]))
    server.emit('connection', socket)
  })
  return () => {
    for (const socket of open) socket.destroy()
  }
}

const upgradeHeaders = new Set(['upgrade', 'connection', 'http2-settings'])

function withoutUpgrade({ method, url, rawHeaders, httpVersion }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (!upgradeHeaders.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[i + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
