/**
 * The identity of a caller. Each entrance of the server determines one identity per request or
 * connection, and caller, tenant and rights are taken from it alone:
 *
 *   HTTP, WebSocket upgrade, ACP over HTTP    the credential of the request
 *   stdio, socket in the data directory       the owner of the process
 *   a process that attaches to another one    the owner, because of the token in `lull.address`
 *
 * N1  An identity without scopes may do nothing: a missing scope never allows anything.
 * N2  The tenant `*` is reserved for operators of all tenants. No task belongs to it, and no request can name it.
 * N3  Only an identity with `anyTenant` acts in a tenant that the request names.
 * N4  How far a caller reads, answers and controls beyond its own tasks is made of its scopes here, and nowhere else.
 */
import { LullError } from '../../core/errors.ts'
import { allows, type Scope, scopes } from '../../core/scopes.ts'
import { ALL_TENANTS, type Caller, reachBy } from '../../engine/caller.ts'

export interface Identity {
  readonly tenant: string
  readonly principal: string
  readonly scopes: ReadonlySet<Scope>
  /**
   * The id of the credential. Undefined for the owner of the process, and for callers without a
   * credential.
   */
  readonly credentialId?: string | undefined
  /** When the credential ends, in epoch milliseconds, if the credential itself contains that. */
  readonly expiresAt?: number | undefined
  /** The only event sources that the caller may use. Absent: any. */
  readonly eventSources?: readonly string[] | undefined
  /** Whether it may act in a tenant that a request names. */
  readonly anyTenant?: boolean | undefined
}

/** The person who runs the process: on a server without authentication, on stdio and on the socket in the data directory. */
export const owner: Identity = {
  tenant: 'default',
  principal: 'anonymous',
  scopes: new Set(scopes),
  anyTenant: true,
}

/**
 * A caller without a credential, where authentication is configured. It has no scopes and reaches
 * public routes only.
 */
export const noIdentity: Identity = { tenant: 'default', principal: 'anonymous', scopes: new Set() }

const CARD = /(?:^|\/)\.well-known\/(?:agent-card\.json|agent\.json|jwks\.json)$/

/**
 * Whether a request reads a card, or the keys of the server. Both are public, because they tell how
 * to authenticate and how to check signatures of the server.
 */
export function isCard(method: string, path: string): boolean {
  return (method === 'GET' || method === 'HEAD') && CARD.test(path)
}

export function may({ scopes: has }: Identity, scope: Scope): boolean {
  return allows(has, scope)
}

export function callerOf(identity: Identity): Caller {
  const { tenant, principal, scopes: has, credentialId: credential } = identity
  const reach = reachBy((scope) => may(identity, scope))
  return {
    tenant,
    principal,
    reach,
    scopes: has,
    ...(credential === undefined ? {} : { credential }),
  }
}

/** A key per caller. Callers without a credential do not share the key of any principal. */
export function keyOfIdentity(identity: Identity): string {
  if (identity === noIdentity) return 'stranger'
  return JSON.stringify([identity.tenant, identity.principal])
}

const LONGEST_NAME = 256

/**
 * The caller, in the tenant that `?tenant=` names, or else in its own.
 * @throws LullError if it may not act in that tenant
 */
export function callerIn(identity: Identity, query: URLSearchParams): Caller {
  const named = query.get('tenant')
  const tenant = named ?? identity.tenant
  if (tenant === '' || tenant.length > LONGEST_NAME) {
    throw wrongTenant(`must have a length from 1 to ${LONGEST_NAME}`)
  }
  if (tenant !== identity.tenant && identity.anyTenant !== true) throw wrongTenant('is unknown')
  return { ...callerOf(identity), tenant }
}

/** The caller of a route that concerns a single tenant. */
export function memberIn(identity: Identity, query: URLSearchParams): Caller {
  const caller = callerIn(identity, query)
  if (caller.tenant === ALL_TENANTS) throw wrongTenant('must name one tenant')
  return caller
}

/** The caller as operator of a tenant. `*` means all tenants, for operators that may act in any. */
export function operatorIn(identity: Identity, query: URLSearchParams): Caller {
  const caller: Caller = { ...callerIn(identity, query), operator: true }
  return identity.anyTenant === true ? { ...caller, ofAllTenants: true } : caller
}

function wrongTenant(problem: string): LullError {
  return new LullError('INVALID_INPUT', { path: 'tenant', problem })
}
