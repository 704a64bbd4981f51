import type { Actor } from '../core/suspension.ts'
import type { Task } from '../core/task.ts'

/** On whose behalf a call is made. Every read and write is scoped to it. */
export interface Caller {
  readonly tenant: string
  readonly principal: string
  /** Operators see and control every task of every principal (and with `tenant: '*'` of every tenant). */
  readonly operator?: boolean
}

export const ALL_TENANTS = '*'

/** "Not yours" must look like "not found": callers of this answer both the same way. */
export function maySee(caller: Caller, task: Pick<Task, 'tenant' | 'principal'>): boolean {
  if (caller.operator) return caller.tenant === ALL_TENANTS || caller.tenant === task.tenant
  return caller.tenant === task.tenant && caller.principal === task.principal
}

/** Who did it, as the log, the receipts and the dashboard show it. */
export function actorOf({ operator, principal }: Caller): Actor {
  return { kind: operator ? 'operator' : 'client', id: principal }
}

/** What a caller may list. */
export function scopeOf(caller: Caller): { readonly tenant?: string; readonly principal?: string } {
  if (!caller.operator) return { tenant: caller.tenant, principal: caller.principal }
  return caller.tenant === ALL_TENANTS ? {} : { tenant: caller.tenant }
}
