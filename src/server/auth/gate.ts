/**
 * Checks, before every route of the application, who the caller is and whether it has the scope of
 * the route.
 */
import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { LullError } from '../../core/errors.ts'
import { identities } from './identities.ts'
import { type Identity, may } from './identity.ts'
import { type RouteScope, routeScopes, tablePath } from './route-scopes.ts'

/** Finds the identity of a request. */
export type IdentityOf = (c: Context) => Identity

/** Reads the identity that the server determined when the request arrived. */
export const identityOfRequest: IdentityOf = (c) => identities.of((c.env as HttpBindings).incoming)

/**
 * Refuses requests that lack the scope of their route.
 * @throws LullError `FORBIDDEN`
 */
export function createGate(identityOf: IdentityOf): MiddlewareHandler {
  return async (c, next) => {
    const route = matchedRoutes(c).find(({ method }) => method !== 'ALL')
    // No route matches. The application answers with 404 or 405.
    if (route === undefined) return next()
    const needed = routeScopes[`${route.method} ${tablePath(route.path)}`]
    const scope = missing(identityOf(c), needed)
    if (scope !== undefined) throw new LullError('FORBIDDEN', { scope })
    return next()
  }
}

/** The first scope that the caller lacks. Undefined if it may call the route. */
export function missing(identity: Identity, needed: RouteScope | undefined): string | undefined {
  if (needed === 'public' || needed === 'any') return undefined
  if (needed === undefined) return 'none'
  if (!('either' in needed)) return needed.find((scope) => !may(identity, scope))
  return needed.either.some((scope) => may(identity, scope)) ? undefined : needed.either[0]
}
