import type { Actor } from '../core/suspension.ts'
import type { Task } from '../core/task.ts'

/** On whose behalf a call is made. Every read and write is scoped to it. */
export interface Caller {
  readonly tenant: string
  readonly principal: string
  /** Operators see and control every task of every principal (and with `tenant: '*'` of every tenant). */
  readonly operator?: boolean
  /** An operator of all tenants that acts in the one tenant. What it sets belongs to `*`. */
  readonly ofAllTenants?: true | undefined
  /** The id of the credential that was shown, where it has one. */
  readonly credential?: string | undefined
}

export const ALL_TENANTS = '*'

/** A task that the caller may not see must look like one that does not exist. Answer both with the same error. */
export function maySee(caller: Caller, task: Pick<Task, 'tenant' | 'principal'>): boolean {
  if (caller.operator) return caller.tenant === ALL_TENANTS || caller.tenant === task.tenant
  return caller.tenant === task.tenant && caller.principal === task.principal
}

/** The caller as the log, the receipts and the dashboard show it. */
export function actorOf({ operator, principal }: Caller): Actor {
  return { kind: operator ? 'operator' : 'client', id: principal }
}

/** The filter of every list that the caller reads. */
export function scopeOf(caller: Caller): { readonly tenant?: string; readonly principal?: string } {
  if (!caller.operator) return { tenant: caller.tenant, principal: caller.principal }
  return caller.tenant === ALL_TENANTS ? {} : { tenant: caller.tenant }
}
