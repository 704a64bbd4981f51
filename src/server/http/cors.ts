/**
 * Answers cross-origin requests of pages in `allowedOrigins`. Credentials are bearer tokens that
 * the page sets itself and never cookies, so `Access-Control-Allow-Credentials` is not sent. Other
 * origins have already been refused by the guard.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Sets the headers of the answer. Returns true if the request was a preflight and has been
 * answered.
 */
export type Cors = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

const METHODS = 'GET, HEAD, POST, DELETE'
const MAX_AGE_S = '600'
/** The headers that a page may read in addition to those that are always readable. */
const EXPOSED =
  'etag, retry-after, www-authenticate, a2a-extensions, x-a2a-extensions, acp-connection-id'
/** A list of header names, as the browser sends them in a preflight. */
const NAMES = /^[\w-]+(?: *, *[\w-]+)*$/
const LONGEST_NAMES = 1_024

export function createCors(allowedOrigins: readonly string[] = []): Cors {
  if (allowedOrigins.length === 0) return () => false
  const origins = new Set(allowedOrigins.map((one) => new URL(one).origin))

  return ({ method, headers }, outgoing) => {
    // Set even for requests without an origin: answers differ by origin, and a cache must not mix
    // them up.
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
