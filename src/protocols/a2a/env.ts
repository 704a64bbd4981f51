/** Who is calling, as the server that mounts us knows it. */
import type { Caller } from '../../engine/caller.ts'
import type { Scope } from './call.ts'
import { A2AError } from './faults.ts'

export interface A2AEnv {
  readonly caller: Caller
  /** Which scopes the caller has; absent: all of them. */
  readonly may?: ((scope: Scope) => boolean) | undefined
  /** Whether the caller may act in any tenant a request names, or only in its own (the default). */
  readonly anyTenant?: boolean | undefined
}

/** For requests of the web platform. */
export interface A2AFetchEnv extends A2AEnv {
  /** Fires when the client goes away. */
  readonly signal?: AbortSignal | undefined
}

export function scopesOf({ may = everything }: A2AEnv): (scope: Scope) => boolean {
  return may
}

const everything = (): boolean => true

/**
 * The caller, in the tenant the request names. A tenant routes; it never authorises (A2A 1.0 §13.1).
 * @throws A2AError when that is not one of theirs
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
