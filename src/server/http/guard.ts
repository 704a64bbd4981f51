/**
 * Protects the server from pages of other sites. Such a page can make a browser send requests to a server on this machine:
 * under a name that resolves to this machine (DNS rebinding), or across origins. The first is recognised by the Host
 * header, the second by Origin. Programs send no Origin, and the host they were given.
 */
import type { IncomingMessage } from 'node:http'
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

/** Hosts that passed are cached. The cache is bounded, because clients choose the header. */
const REMEMBERED = 64

export function createGuard({ host, allowedHosts = [], allowedOrigins = [] }: GuardOptions): Guard {
  const named = allowedHosts.map((one) => one.toLowerCase())
  const origins = new Set(allowedOrigins.map((one) => new URL(one).origin))
  const onLoopback = isLoopback(host)
  const passed = new Set<string>()

  function isOurs(header: string): boolean {
    const name = hostnameOf(header)
    if (name === host.toLowerCase()) return true
    // DNS rebinding needs a name, so an IP address is not rebound.
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

/** `http://host:port/path`. A user in front of the host is refused, and so is a query without a path. */
const ABSOLUTE = /^https?:\/\/([\w.:[\]-]+)(?:\/|$)/i

/**
 * The host that a request is for. An absolute target names it, and the Host header is then ignored (RFC 9112 3.2.2). Only
 * HTTP/1.0 omits the header. `problem`: two servers may read the request differently.
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

/** Headers of which two servers on the way may each believe another one, when a request has two of them. */
const single: ReadonlySet<string> = new Set(['host', 'authorization'])

/** The first of these headers that a request has twice (RFC 9112 3.2, RFC 9110 5.3). Node keeps the first value of each. */
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

/** Without port and brackets. */
function hostnameOf(header: string): string {
  const bracketed = /^\[([^\]]*)\](:\d*)?$/.exec(header)
  if (bracketed?.[1] !== undefined) return bracketed[1].toLowerCase()
  return (isIP(header) === 6 ? header : header.replace(/:\d*$/, '')).toLowerCase()
}

function isSameHost(origin: string, header: string): boolean {
  const [scheme, rest] = origin.split('://')
  return (scheme === 'http' || scheme === 'https') && rest === header.toLowerCase()
}
