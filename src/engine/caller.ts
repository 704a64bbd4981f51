import type { Scope } from '../core/scopes.ts'
import type { Actor } from '../core/suspension.ts'
import type { Task } from '../core/task.ts'

/** The kinds of what others than its starter can do to a task. Further messages and webhooks are its starter's alone. */
export type Act = 'read' | 'answer' | 'control'

/** Which tasks: those that the caller started, or all of its tenant. In the tenant `*` those are the tasks of every tenant. */
export type Reach = 'own' | 'tenant'

/** On whose behalf a call is made. Every read and write is scoped to it. */
export interface Caller {
  readonly tenant: string
  readonly principal: string
  /** An operator reads and controls every task of its tenant, and answers none for another principal. */
  readonly operator?: boolean
  /** How far the caller reads, answers and controls. Absent, also of a kind of act: its own tasks. */
  readonly reach?: Readonly<Partial<Record<Act, Reach>>>
  /** The scopes that a consent can ask for (`requireConsent({ by: { withScope } })`). */
  readonly scopes?: ReadonlySet<Scope>
  /** An operator of all tenants that acts in the one tenant. What it sets belongs to `*`. */
  readonly ofAllTenants?: true | undefined
  /** The id of the credential that was shown, where it has one. */
  readonly credential?: string | undefined
}

export const ALL_TENANTS = '*'

/** The scope with which a caller does this to tasks of others. */
export const reachScopes: Readonly<Record<Act, Scope>> = {
  read: 'tasks:read:all',
  answer: 'tasks:answer:all',
  control: 'tasks:control:all',
}

/** The reach that scopes give. */
export function reachBy(may: (scope: Scope) => boolean): NonNullable<Caller['reach']> {
  const reach = (act: Act): Reach => (may(reachScopes[act]) ? 'tenant' : 'own')
  return { read: reach('read'), answer: reach('answer'), control: reach('control') }
}

type Owned = Pick<Task, 'tenant' | 'principal'>

/** What operators do to tasks of others. */
const operators: Readonly<Record<Act, boolean>> = { read: true, control: true, answer: false }

function reachOf({ operator, reach }: Caller, act: Act): Reach {
  return operator && operators[act] ? 'tenant' : (reach?.[act] ?? 'own')
}

export function isStarter(caller: Pick<Caller, 'tenant' | 'principal'>, task: Owned): boolean {
  return caller.tenant === task.tenant && caller.principal === task.principal
}

export function mayAct(caller: Caller, act: Act, task: Owned): boolean {
  if (isStarter(caller, task)) return true
  const isInReach = caller.tenant === ALL_TENANTS || caller.tenant === task.tenant
  return isInReach && reachOf(caller, act) === 'tenant'
}

/** A task that the caller may not see must look like one that does not exist. Answer both with the same error. */
export function maySee(caller: Caller, task: Owned): boolean {
  return mayAct(caller, 'read', task)
}

/** The caller as the log, the receipts and the dashboard show it. */
export function actorOf({ operator, principal, credential }: Caller): Actor {
  const who = { kind: operator ? 'operator' : 'client', id: principal } as const
  return credential === undefined ? who : { ...who, keyId: credential }
}

/** The filter of every list that the caller reads. */
export function scopeOf(caller: Caller): { readonly tenant?: string; readonly principal?: string } {
  if (reachOf(caller, 'read') === 'own') {
    return { tenant: caller.tenant, principal: caller.principal }
  }
  return caller.tenant === ALL_TENANTS ? {} : { tenant: caller.tenant }
}

/** The only tenant whose tasks the caller may see. Undefined for operators of all tenants. */
export function tenantOf({ tenant }: Caller): string | undefined {
  return tenant === ALL_TENANTS ? undefined : tenant
}
