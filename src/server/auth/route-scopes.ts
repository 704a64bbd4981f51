/**
 * The scope of every route, except A2A, whose methods have their own (`protocols/a2a/methods`). The
 * server does not start if a route has no row. A list contains scopes that are all needed, `either`
 * several of which one is enough. `public`: no credential is needed. `any`: every valid credential
 * is enough.
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
  ...Object.fromEntries(
    [...opsRoutes, ...opsStreams].map((route) => [`${route.method} ${route.path}`, scopeOf(route)]),
  ),
}

function scopeOf({ scope, ownerScope }: Pick<OpsRoute, 'scope' | 'ownerScope'>): RouteScope {
  return ownerScope === undefined ? [scope] : { either: [scope, ownerScope] }
}

/** Converts a path of the router to the form in the table. */
export function tablePath(path: string): string {
  return path.replace(/:action\{([^}]*)\}/, '$1').replace(/\/:(\w+)/g, '/{$1}')
}

/** @throws StartError if a route of the application has no row */
export function checkRoutes(app: Pick<Hono, 'routes'>): void {
  for (const { method, path } of app.routes) {
    if (method === 'ALL' || routeScopes[`${method} ${tablePath(path)}`] !== undefined) continue
    throw new StartError(`${method} ${tablePath(path)} has no row in the table of scopes.`)
  }
}

const CARD = /(?:^|\/)\.well-known\/(?:agent-card\.json|agent\.json|jwks\.json)$/

/**
 * Whether no credential is needed. Cards and keys are public, because they tell how to authenticate
 * and how to check signatures of the server.
 */
export function isPublic(method: string, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (path === '/dashboard' || path.startsWith('/dashboard/')) return true
  return routeScopes[`GET ${path}`] === 'public' || CARD.test(path)
}
