/**
 * The scope of every route beside A2A, whose methods have theirs (`protocols/a2a/methods`). A route without a row does not
 * start the server. A list names the scopes that are all needed, and `either` those of which one is. `public`: no credential
 * is needed. `any`: every valid credential will do.
 */
import type { Hono } from 'hono'
import type { Scope } from '../../core/scopes.ts'
import { RECEIPT_KEYS_PATH } from '../../protocols/ops/openapi.ts'
import type { OpsRoute } from '../../protocols/ops/route.ts'
import { opsRoutes, opsStreams } from '../../protocols/ops/routes.ts'
import { StartError } from '../process/start-error.ts'

export type RouteScope =
  | readonly Scope[]
  | { readonly either: readonly [Scope, Scope] }
  | 'public'
  | 'any'

/** An editor reads the tasks of its sessions, prompts them, and stops them. */
export const acpScopes: readonly Scope[] = ['tasks:read', 'tasks:write', 'tasks:control']

/** By method and path. `{id}` stands for one segment, `*` for the rest. */
export const routeScopes: Readonly<Record<string, RouteScope>> = {
  'GET /': 'any',
  'GET /healthz': 'public',
  'GET /readyz': 'public',
  'GET /metrics': ['ops:read'],
  // Outsiders verify receipts with these keys.
  [`GET ${RECEIPT_KEYS_PATH}`]: 'public',
  'POST /events': ['events:write'],
  'GET /acp': acpScopes,
  'POST /acp': acpScopes,
  'DELETE /acp': acpScopes,
  // The files of the page. They hold no data; what the page shows comes from `/ops`.
  'GET /dashboard': 'public',
  'GET /dashboard/*': 'public',
  'GET /dashboard/assets/{name}': 'public',
  ...Object.fromEntries(
    [...opsRoutes, ...opsStreams].map((route) => [`${route.method} ${route.path}`, scopeOf(route)]),
  ),
}

function scopeOf({ scope, ownerScope }: Pick<OpsRoute, 'scope' | 'ownerScope'>): RouteScope {
  return ownerScope === undefined ? [scope] : { either: [scope, ownerScope] }
}

/** A path of the application's router, as the table spells it. */
export function tablePath(path: string): string {
  return path.replace(/:action\{([^}]*)\}/, '$1').replace(/\/:(\w+)/g, '/{$1}')
}

/** @throws StartError for a route of the application without a row */
export function checkRoutes(app: Pick<Hono, 'routes'>): void {
  for (const { method, path } of app.routes) {
    if (method === 'ALL' || routeScopes[`${method} ${tablePath(path)}`] !== undefined) continue
    throw new StartError(`${method} ${tablePath(path)} has no row in the table of scopes.`)
  }
}

const CARD = /(?:^|\/)\.well-known\/(?:agent-card\.json|agent\.json|jwks\.json)$/

/** Cards and keys are public: they say how to authenticate, and how to check what the server signed. */
export function isPublic(method: string, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (path === '/dashboard' || path.startsWith('/dashboard/')) return true
  return routeScopes[`GET ${path}`] === 'public' || CARD.test(path)
}
