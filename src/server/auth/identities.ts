/** The identity of each request, from the door that made it to the routes that need it. */
import type { IncomingMessage } from 'node:http'
import type { Identity } from './identity.ts'

const known = new WeakMap<IncomingMessage, Identity>()

export const identities = {
  remember(request: IncomingMessage, identity: Identity): void {
    known.set(request, identity)
  },
  /** @throws when no door made one: a request without an identity is not answered */
  of(request: IncomingMessage): Identity {
    const identity = known.get(request)
    if (identity === undefined) throw new Error('the request has no identity')
    return identity
  },
}
