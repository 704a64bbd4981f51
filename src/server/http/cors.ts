/**
 * Cross-origin requests of the pages in `allowedOrigins`. Credentials are bearer tokens that the page sets itself, never cookies,
 * so `Access-Control-Allow-Credentials` is not sent. The guard has refused every other origin before.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Sets the headers of the answer. True: the request was a preflight and is answered. */
export type Cors = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

const METHODS = 'GET, HEAD, POST, DELETE'
const MAX_AGE_S = '600'
/** What a page may read besides the body and the headers that are always readable. */
const EXPOSED =
  'etag, retry-after, www-authenticate, a2a-extensions, x-a2a-extensions, acp-connection-id'
/** Names of headers. The browser asks for those that the page sets. */
const NAMES = /^[\w-]+(?: *, *[\w-]+)*$/
const LONGEST_NAMES = 1_024

export function createCors(allowedOrigins: readonly string[] = []): Cors {
  if (allowedOrigins.length === 0) return () => false
  const origins = new Set(allowedOrigins.map((one) => new URL(one).origin))

  return ({ method, headers }, outgoing) => {
    // Answers differ by origin, also for requests that name none: a cache must not mix them up.
    outgoing.setHeader('vary', 'Origin')
    const { origin } = headers
    if (origin === undefined || !origins.has(origin)) return false
    outgoing.setHeader('access-control-allow-origin', origin)
    outgoing.setHeader('access-control-expose-headers', EXPOSED)
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
    outgoing.setHeader('access-control-allow-methods', METHODS)
    const names = headers['access-control-request-headers']
    if (names !== undefined && names.length <= LONGEST_NAMES && NAMES.test(names)) {
      outgoing.setHeader('access-control-allow-headers', names)
    }
    if (headers['access-control-request-private-network'] === 'true') {
      outgoing.setHeader('access-control-allow-private-network', 'true')
    }
    outgoing.setHeader('access-control-max-age', MAX_AGE_S)
    outgoing.writeHead(204).end()
    return true
  }
}
