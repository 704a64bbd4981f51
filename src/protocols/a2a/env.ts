/** The caller of a request, as authenticated by the server that mounts the adapter. */
import type { Caller } from '../../engine/caller.ts'
import type { Scope } from './call.ts'
import { A2AError } from './faults.ts'

export interface A2AEnv {
  readonly caller: Caller
  /** Whether the caller has a scope. Absent: the caller has every scope. */
  readonly may?: ((scope: Scope) => boolean) | undefined
  /** Whether the caller may act in any tenant that a request names. Default: only in its own. */
  readonly anyTenant?: boolean | undefined
}

/** For requests of the web platform. */
export interface A2AFetchEnv extends A2AEnv {
  /** Fires when the client disconnects. */
  readonly signal?: AbortSignal | undefined
}

export function scopesOf({ may = everything }: A2AEnv): (scope: Scope) => boolean {
  return may
}

const everything = (): boolean => true

/**
 * The caller, in the tenant that the request names. A tenant selects data and grants no access (A2A 1.0 §13.1).
 * @throws A2AError when the caller may not act in that tenant
 */
export function callerIn({ caller, anyTenant = false }: A2AEnv, tenant: unknown): Caller {
  if (tenant === undefined || tenant === null || tenant === '' || tenant === caller.tenant) {
    return caller
  }
  if (typeof tenant !== 'string' || tenant.length > 256) {
    throw new A2AError('INVALID_PARAMS', 'tenant must be a string', {
      path: 'tenant',
      problem: 'must be a string of at most 256 characters',
    })
  }
  if (anyTenant) return { ...caller, tenant }
  throw new A2AError('INVALID_PARAMS', 'tenant: is unknown', {
    path: 'tenant',
    problem: 'is unknown',
  })
}
