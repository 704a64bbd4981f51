/**
 * Records requests that were refused because they lack a valid credential or a scope. The recorded
 * address has no query.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { type Audit, ofStranger } from '../../engine/observe/audit.ts'
import { addressOf } from '../../http/http.ts'
import { keyIn } from './api-keys.ts'
import { bearerIn } from './authenticate.ts'
import type { Identity } from './identity.ts'

/** What is recorded of a request, of `node:http` or of HTTP/2. */
export interface RefusedRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

export interface RefusedAttempts {
  /** @param code `UNAUTHENTICATED`, or why the host or origin was refused */
  ofStranger(request: RefusedRequest, code: string): void
  /** Records a request of a caller that lacks a scope. */
  ofCaller(request: RefusedRequest, identity: Identity): void
}

export function createRefusedAttempts(audit: Pick<Audit, 'note'>): RefusedAttempts {
  return {
    ofStranger(request, code) {
      const from = request.socket.remoteAddress
      const credential = shownKey(request)
      const shown = credential === undefined ? {} : { credential }
      audit.note({ ...ofStranger(from, routeOf(request), code), ...shown })
    },
    ofCaller(request, { tenant, principal, credentialId }) {
      audit.note({
        tenant,
        principal,
        ...(credentialId === undefined ? {} : { credential: credentialId }),
        action: 'request',
        target: routeOf(request).slice(0, 256),
        outcome: 'FORBIDDEN',
      })
    },
  }
}

function routeOf({ method = 'GET', url = '/' }: RefusedRequest): string {
  return `${method} ${addressOf(url).path}`
}

/** The id of an API key that is not, or no longer, valid. The id is not secret. */
function shownKey({ headers }: RefusedRequest): string | undefined {
  const header = (name: string): string | undefined => {
    const value = headers[name]
    return typeof value === 'string' ? value : undefined
  }
  const token = bearerIn({ method: '', path: '', header })
  return token === undefined ? undefined : keyIn(token)?.id
}
