/**
 * `/ops`, the dashboard and the health of an embedded engine.
 *
 * O1  `caller` decides: a caller with `operator` reads and controls its tenant, with `ofAllTenants`
 *     every tenant; any other one has its own tasks, and nothing below `/ops` that needs more.
 * O2  Without `caller`, a program of this machine is the owner, as on a server without
 *     authentication. A caller that is only let in by `insecure` is no operator.
 */
import type { Scope } from '../../core/scopes.ts'
import { type Act, ALL_TENANTS, type Caller, reachScopes } from '../../engine/caller.ts'
import { isPublic } from '../auth/gate.ts'
import { type Identity, noIdentity } from '../auth/identity.ts'
import { createApp } from '../http/app.ts'
import type { OpenEngine } from '../open-engine.ts'

export type Operations = (
  request: Request,
  path: string,
  identity: Identity | undefined,
) => Promise<Response> | Response

const ownScopes: readonly Scope[] = ['tasks:read', 'tasks:write', 'tasks:control', 'events:write']
const operatorScopes: readonly Scope[] = ['events:write:all', 'ops:read', 'ops:control']

/** Whether the path is one of these routes. */
export function isOperations(path: string): boolean {
  return /^\/(?:ops|dashboard|auth\/session|healthz|readyz|metrics)(?:[/:]|$)/.test(path)
}

/** Whether no caller is needed. */
export const needsNoCaller = (method: string, path: string): boolean =>
  isOperations(path) && (isPublic(method, path) || path === SESSION)

const SESSION = '/auth/session'

const acts = Object.keys(reachScopes) as readonly Act[]

/** O1. */
export function identityFor(caller: Caller): Identity {
  const { tenant, principal, operator = false, ofAllTenants = false, credential } = caller
  const wide = acts.filter((act) => caller.reach?.[act] === 'tenant').map((act) => reachScopes[act])
  return {
    tenant,
    principal,
    scopes: new Set([...ownScopes, ...wide, ...(operator ? operatorScopes : [])]),
    credentialId: credential,
    anyTenant: operator && (ofAllTenants || tenant === ALL_TENANTS),
  }
}

/** @param prefix the path below which the app serves them */
export function createOperations(open: OpenEngine, url: string, prefix: string): Operations {
  const { engine, deps, lost, metrics } = open
  const app = createApp({
    engine,
    log: deps.log,
    url: url.replace(/\/+$/, ''),
    prefix,
    lost,
    identityOf: (c) => (c.env as { readonly identity: Identity }).identity,
    metrics: ({ tenant, anyTenant }) => metrics(anyTenant === true ? undefined : tenant),
  })

  return (request, path, identity) => {
    // The app signs people in, and the page only asks who they are.
    if (path === SESSION) return Response.json(sessionOf(identity))
    return app.fetch(request, { identity: identity ?? noIdentity })
  }
}

/** Without a tenant the page asks for the tasks of every tenant. */
function sessionOf(identity: Identity | undefined): object {
  const { tenant, principal, anyTenant } = identity ?? {}
  return { signIn: false, ...(anyTenant === true ? {} : { tenant, principal }) }
}
