/**
 * Protects the server from pages of other sites. Such a page can make a browser send requests to a
 * server on this machine: under a name that resolves to this machine (DNS rebinding), or across
 * origins. The first is recognised by the Host header, the second by the Origin header. Programs
 * other than browsers send no Origin, and the host in the URL that they were given.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'

export interface GuardOptions {
  /** The address the server listens on. */
  readonly host: string
  readonly allowedHosts?: readonly string[] | undefined
  readonly allowedOrigins?: readonly string[] | undefined
}

export interface GuardRefusal {
  readonly code: 'HOST_NOT_ALLOWED' | 'ORIGIN_NOT_ALLOWED'
  readonly message: string
}

export type Guard = (host: string, origin: string | undefined) => GuardRefusal | undefined

/** The size of the cache of accepted hosts. It is bounded, because clients choose the header. */
const REMEMBERED = 64

export function createGuard({ host, allowedHosts = [], allowedOrigins = [] }: GuardOptions): Guard {
  const named = allowedHosts.map((one) => one.toLowerCase())
  const origins = new Set(allowedOrigins.map((one) => new URL(one).origin))
  const onLoopback = isLoopback(host)
  const passed = new Set<string>()

  function isOurs(header: string): boolean {
    const name = hostnameOf(header)
    if (name === host.toLowerCase()) return true
    // An IP address cannot be rebound, because DNS rebinding needs a name.
    if (isIP(name) !== 0) return !onLoopback || isLoopback(name)
    if (name === 'localhost' || name.endsWith('.localhost')) return true
    return named.some((one) => (one.startsWith('.') ? name.endsWith(one) : name === one))
  }

  return (header, origin) => {
    if (!passed.has(header)) {
      if (!isOurs(header)) {
        const message = `"${header}" is not a name of this server; allowedHosts in the configuration adds one`
        return { code: 'HOST_NOT_ALLOWED', message }
      }
      if (passed.size < REMEMBERED) passed.add(header)
    }
    if (origin === undefined || isSameHost(origin, header) || origins.has(origin)) return undefined
    const message = `Pages of ${origin} may not call this server; allowedOrigins in the configuration permits them`
    return { code: 'ORIGIN_NOT_ALLOWED', message }
  }
}

/**
 * Matches `http://host:port/path`. A URL with a user name, or with a query and no path, does not
 * match and is refused.
 */
const ABSOLUTE = /^https?:\/\/([\w.:[\]-]+)(?:\/|$)/i

/**
 * The host that a request is for. An absolute request target contains it, and then the Host header
 * is ignored (RFC 9112 3.2.2). Only HTTP/1.0 may omit the header. `problem`: two servers could
 * interpret the request differently.
 */
export function addressed(
  request: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>,
  listensOn: string,
): { readonly host: string; readonly problem?: undefined } | { readonly problem: string } {
  const { url = '/', headers } = request
  const repeated = repeatedHeader(request)
  if (repeated !== undefined) return { problem: `The request has more than one ${repeated} header` }
  if (url.startsWith('/') || url === '*') return { host: headers.host ?? listensOn }
  const host = ABSOLUTE.exec(url)?.[1]
  return host === undefined
    ? { problem: 'The request target is neither a path nor a URL' }
    : { host }
}

/** Headers that must not be repeated, because two servers on the way could use different values. */
const single: ReadonlySet<string> = new Set(['host', 'authorization'])

/**
 * The first of these headers that occurs twice (RFC 9112 3.2, RFC 9110 5.3). Node keeps only the
 * first value of each.
 */
export function repeatedHeader({
  rawHeaders,
}: {
  readonly rawHeaders: readonly string[]
}): string | undefined {
  const found = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? ''
    if (!single.has(name)) continue
    if (found.has(name)) return name
    found.add(name)
  }
  return undefined
}

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  const name = hostnameOf(host)
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
}

/** The host name without port and brackets. */
function hostnameOf(header: string): string {
  const bracketed = /^\[([^\]]*)\](:\d*)?$/.exec(header)
  if (bracketed?.[1] !== undefined) return bracketed[1].toLowerCase()
  return (isIP(header) === 6 ? header : header.replace(/:\d*$/, '')).toLowerCase()
}

function isSameHost(origin: string, header: string): boolean {
  const [scheme, rest] = origin.split('://')
  return (scheme === 'http' || scheme === 'https') && rest === header.toLowerCase()
}

/**
 * Sets the headers of the answer. Returns true if the request was a preflight and has been
 * answered.
 */
type Cors = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

const METHODS = 'GET, HEAD, POST, DELETE'
const MAX_AGE_S = '600'
/** The headers that a page may read in addition to those that are always readable. */
const EXPOSED =
  'etag, retry-after, www-authenticate, a2a-extensions, x-a2a-extensions, acp-connection-id'
/** A list of header names, as the browser sends them in a preflight. */
const NAMES = /^[\w-]+(?: *, *[\w-]+)*$/
const LONGEST_NAMES = 1_024

/**
 * Answers cross-origin requests of pages in `allowedOrigins`. Credentials are bearer tokens that
 * the page sets itself and never cookies, so `Access-Control-Allow-Credentials` is not sent. Other
 * origins have already been refused by the guard.
 */
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
