/**
 * Checks, before every route of the application, who the caller is and whether it has the scope of
 * the route (`routeScopes`).
 */

import type { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { LullError } from '../../core/errors.ts'
import type { Scope } from '../../core/scopes.ts'
import { RECEIPT_KEYS_PATH } from '../../protocols/ops/openapi.ts'
import type { OpsRoute } from '../../protocols/ops/route.ts'
import { opsRoutes, opsStreams } from '../../protocols/ops/routes.ts'
import { StartError } from '../process/start-error.ts'
import { type Identity, isCard, may } from './identity.ts'

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

const known = new WeakMap<IncomingMessage, Identity>()

/**
 * Passes the identity of each request from the place that determines it to the routes that need it.
 */
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

/**
 * The scope of every route, except A2A, whose methods have their own (`protocols/a2a/methods`). The
 * server does not start if a route has no row. A list contains scopes that are all needed, `either`
 * several of which one is enough. `public`: no credential is needed. `any`: every valid credential
 * is enough.
 */
type RouteScope =
  | readonly Scope[]
  | { readonly either: readonly [Scope, ...Scope[]] }
  | 'public'
  | 'any'

/** An editor reads, prompts and stops the tasks of its sessions. */
export const acpScopes: readonly Scope[] = ['tasks:read', 'tasks:write', 'tasks:control']

/** The scopes by method and path. `{id}` stands for one segment, `*` for the rest. */
export const routeScopes: Readonly<Record<string, RouteScope>> = {
  'GET /': 'any',
  'GET /healthz': 'public',
  'GET /readyz': 'public',
  'GET /metrics': ['ops:read'],
  // Public, because outsiders verify receipts with these keys.
  [`GET ${RECEIPT_KEYS_PATH}`]: 'public',
  'POST /events': ['events:write'],
  'GET /acp': acpScopes,
  'POST /acp': acpScopes,
  'DELETE /acp': acpScopes,
  // The files of the page are public, because they contain no data. The page reads its data from
  // `/ops`.
  'GET /dashboard': 'public',
  'GET /dashboard/*': 'public',
  'GET /dashboard/assets/{name}': 'public',
  // Whoever signs in has no credential yet.
  'GET /auth/login': 'public',
  'GET /auth/callback': 'public',
  'GET /auth/session': 'public',
  'POST /auth/logout': 'any',
  ...Object.fromEntries(
    [...opsRoutes, ...opsStreams].map((route) => [`${route.method} ${route.path}`, scopeOf(route)]),
  ),
}

function scopeOf({ scope, ownScopes = [] }: Pick<OpsRoute, 'scope' | 'ownScopes'>): RouteScope {
  return ownScopes.length === 0 ? [scope] : { either: [scope, ...ownScopes] }
}

/** Converts a path of the router to the form in the table. */
function tablePath(path: string): string {
  return path.replace(/:action\{([^}]*)\}/, '$1').replace(/\/:(\w+)/g, '/{$1}')
}

/** @throws StartError if a route of the application has no row */
export function checkRoutes(app: Pick<Hono, 'routes'>): void {
  for (const { method, path } of app.routes) {
    if (method === 'ALL' || routeScopes[`${method} ${tablePath(path)}`] !== undefined) continue
    throw new StartError(`${method} ${tablePath(path)} has no row in the table of scopes.`)
  }
}

/** Whether no credential is needed. */
export function isPublic(method: string, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (path === '/dashboard' || path.startsWith('/dashboard/')) return true
  return routeScopes[`GET ${path}`] === 'public' || isCard(method, path)
}
