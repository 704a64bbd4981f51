/** The caller of a request, as authenticated by the server that mounts the adapter. */
import type { Scope } from '../../core/scopes.ts'
import { ALL_TENANTS, type Caller } from '../../engine/caller.ts'
import type { Method } from './call.ts'
import { A2AError } from './errors/faults.ts'

export interface A2AEnv {
  readonly caller: Caller
  /** Whether the caller has the scope. */
  readonly may: (scope: Scope) => boolean
  /** Whether the caller may act in any tenant that a request names. Default: only in its own. */
  readonly anyTenant?: boolean | undefined
}

/** The environment of a `fetch` request. */
export interface A2AFetchEnv extends A2AEnv {
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal | undefined
}

/** Allows everything that a caller may do with its own tasks. */
export const ownTaskScopes = (scope: Scope): boolean => scope !== 'tasks:read:all'

/**
 * The caller of a method. A caller that may read the tasks of all principals reads as an operator
 * of its tenant.
 */
export function callerFor(env: A2AEnv, { scope }: Pick<Method, 'scope'>, tenant: unknown): Caller {
  const caller = callerIn(env, tenant)
  const reads = scope === 'tasks:read' && env.may('tasks:read:all') && env.anyTenant !== true
  return reads ? { ...caller, operator: true } : caller
}

/**
 * The caller, in the tenant that the request names. A tenant selects data and grants no access (A2A 1.0 §13.1).
 * @throws A2AError when the caller may not act in that tenant
 */
function callerIn({ caller, anyTenant = false }: A2AEnv, tenant: unknown): Caller {
  if (tenant === ALL_TENANTS) throw unknownTenant()
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
  throw unknownTenant()
}

function unknownTenant(): A2AError {
  return new A2AError('INVALID_PARAMS', 'tenant: is unknown', {
    path: 'tenant',
    problem: 'is unknown',
  })
}
