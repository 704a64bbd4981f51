/**
 * Passes the identity of each request from the place that determines it to the routes that need it.
 */
import type { IncomingMessage } from 'node:http'
import type { Identity } from './identity.ts'

const known = new WeakMap<IncomingMessage, Identity>()

export const identities = {
  remember(request: IncomingMessage, identity: Identity): void {
    known.set(request, identity)
  },
  /** @throws if no identity was set: a request without an identity must not be answered */
  of(request: IncomingMessage): Identity {
    const identity = known.get(request)
    if (identity === undefined) throw new Error('the request has no identity')
    return identity
  },
}
