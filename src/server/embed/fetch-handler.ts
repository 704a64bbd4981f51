/**
 * Answers requests for an embedded engine: A2A, events and, with `ops`, the routes of operators
 * (`operations.ts`).
 *
 * M1  Without `caller` only programs on this machine are served, recognised by the address of their
 *     socket. A request without a socket is served only with `insecure`. Host and URL are chosen by
 *     the sender, so they prove nothing.
 * M2  Events follow the rules of `auth/event-sender.ts`: they wake tasks of the caller's principal,
 *     or of all principals if the caller is an operator.
 * M3  A body has at most `bodyLimitBytes`. No more is kept in memory.
 * M4  With `caller`, cards and keys are public: they tell strangers how to authenticate.
 */

import type { Scope } from '../../core/scopes.ts'
import type { Caller } from '../../engine/caller.ts'
import { ownTaskScopes } from '../../protocols/a2a/index.ts'
import { answerOf, readEvents } from '../../protocols/cloud-events/read-events.ts'
import { sentBy } from '../auth/event-sender.ts'
import { type Identity, isCard, owner } from '../auth/identity.ts'
import { createGuard, isLoopback } from '../http/guard.ts'
import { BODY_LIMIT_BYTES } from '../http/node-http.ts'
import { notFound, refusal, refusalOf } from '../http/refusals.ts'
import { inFetchSpan } from '../telemetry/request-span.ts'
import type { HttpOptions } from './embed.ts'
import type { Opened } from './open-once.ts'
import { identityFor, isOperations, needsNoCaller } from './operations.ts'

const anyone: Caller = { tenant: 'default', principal: 'anonymous' }

const NO_CALLER =
  'The app does not say who calls: give `caller` to embed, or `insecure: true` if every caller may use the agents'

/** @param peer the remote address of the socket; undefined if it is not known */
export type Answer = (request: Request, peer: string | undefined) => Promise<Response>

export function createAnswer(options: HttpOptions, prefix: string, ready: Promise<Opened>): Answer {
  const { bodyLimitBytes = BODY_LIMIT_BYTES, insecure = false } = options
  const { hostname } = new URL(options.url)
  const guard = createGuard({ ...options, host: hostname })

  /** Whether the program is one of this machine, which may do everything unless the app says who calls. */
  function isOwner(peer: string | undefined): boolean {
    return options.caller === undefined && isLoopback(hostname) && isHere(peer)
  }

  function callerOf(request: Request, peer: string | undefined) {
    if (options.caller !== undefined) return options.caller(request)
    return insecure || isOwner(peer) ? anyone : undefined
  }

  function identityOf(caller: Caller | undefined, peer: string | undefined): Identity | undefined {
    return caller === undefined ? undefined : isOwner(peer) ? owner : identityFor(caller)
  }

  async function answer(request: Request, peer: string | undefined): Promise<Response> {
    const url = new URL(request.url)
    const path = url.pathname.slice(prefix.length) || '/'
    if (!url.pathname.startsWith(prefix) || !path.startsWith('/')) return notFound(url.pathname)
    const { headers, method, signal } = request
    const refused = guard(headers.get('host') ?? url.host, headers.get('origin') ?? undefined)
    if (refused !== undefined) return refusal(403, refused.code, refused.message)
    const caller = await callerOf(request, peer)
    const ofOps = options.ops === true && isOperations(path)
    const isPublic =
      (options.caller !== undefined && isCard(method, path)) ||
      (ofOps && needsNoCaller(method, path))
    if (caller === undefined && !isPublic) {
      const why = options.caller === undefined ? NO_CALLER : 'This needs a caller'
      return refusal(401, 'UNAUTHENTICATED', why)
    }
    const body = await readBody(request, bodyLimitBytes)
    if (body === undefined) {
      return refusal(413, 'LIMIT_EXCEEDED', `The body is larger than ${bodyLimitBytes} bytes`)
    }
    const { engine, a2a, operations } = await ready
    if (caller !== undefined && path === '/events' && method === 'POST') {
      const read = readEvents(headers, body)
      if (read.unsupported !== undefined) {
        return refusal(415, 'UNSUPPORTED_MEDIA_TYPE', read.unsupported)
      }
      const results = await engine.emit(caller, sentBy(senderOf(caller), read.events))
      return Response.json(answerOf(results), { status: 202 })
    }
    const sent = body.length === 0 ? {} : { body }
    const inner = new Request(new URL(path + url.search, url.origin), { method, headers, ...sent })
    if (ofOps) return operations()(inner, path, identityOf(caller, peer))
    const env =
      caller === undefined
        ? { caller: anyone, may: () => false, signal }
        : { caller, may: ownTaskScopes, signal }
    return (await a2a().fetch(inner, env)) ?? notFound(url.pathname)
  }

  return (request, peer) => {
    const path = new URL(request.url).pathname.slice(prefix.length) || '/'
    return inFetchSpan(request, path, () => answer(request, peer).catch(refusalOf))
  }
}

function senderOf({ tenant, principal, operator }: Caller): Identity {
  const scopes: readonly Scope[] = operator === true ? ['events:write:all'] : []
  return { tenant, principal, scopes: new Set(scopes) }
}

/** A socket for both address families shows an IPv4 peer as `::ffff:127.0.0.1`. */
function isHere(peer: string | undefined): boolean {
  return peer !== undefined && isLoopback(peer.replace(/^::ffff:(?=\d+\.)/, ''))
}

/** @returns undefined if the body exceeds the limit. The rest of it is not read. */
async function readBody(request: Request, limit: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return undefined
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  for (;;) {
    const { value } = (await reader?.read()) ?? {}
    if (value === undefined) return Buffer.concat(chunks)
    size += value.length
    if (size > limit) {
      // Not awaited, because a sender that keeps sending must not delay the answer.
      reader?.cancel().catch(() => undefined)
      return undefined
    }
    chunks.push(value)
  }
}
