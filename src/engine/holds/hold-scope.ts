/** Decides which tasks a hold covers, and who may see and change it. */
import { LullError } from '../../core/errors.ts'
import type { Submission } from '../../core/records.ts'
import type { Hold, HoldScope } from '../../ports/store/holds.ts'
import type { OpenTaskQuery } from '../../ports/store/tasks.ts'
import { ALL_TENANTS, type Caller } from '../caller.ts'

/** The members that scopes compare. They are known before the task exists and never change. */
export type HoldableTask = Pick<Submission, 'taskId' | 'tenant' | 'agent' | 'contextId'>

type KeysOfEach<Union> = Union extends Union ? keyof Union : never

/**
 * One condition per member of a scope. A new member of `HoldScope` does not compile until it is
 * here.
 */
const narrowing: Readonly<
  Record<KeysOfEach<HoldScope>, (scope: HoldScope, task: HoldableTask) => boolean>
> = {
  all: () => true,
  tenant: (scope, task) =>
    !('tenant' in scope) || scope.tenant === undefined || scope.tenant === task.tenant,
  agent: (scope, task) => !('agent' in scope) || scope.agent === task.agent,
  contextId: (scope, task) => !('contextId' in scope) || scope.contextId === task.contextId,
  taskIds: (scope, task) => !('taskIds' in scope) || scope.taskIds.includes(task.taskId),
}

const conditions = Object.values(narrowing)

export function isCovered(scope: HoldScope, task: HoldableTask): boolean {
  return conditions.every((isMet) => isMet(scope, task))
}

/** The part of a scope that a store can query. `isCovered` checks the remaining fields. */
export function queryOf(scope: HoldScope): Pick<OpenTaskQuery, 'tenant' | 'agent' | 'contextId'> {
  const { tenant, agent, contextId } = {
    tenant: undefined,
    agent: undefined,
    contextId: undefined,
    ...scope,
  }
  return {
    ...(tenant === undefined ? {} : { tenant }),
    ...(agent === undefined ? {} : { agent }),
    ...(contextId === undefined ? {} : { contextId }),
  }
}

/**
 * The operator of one tenant can hold only tasks of that tenant.
 * @throws LullError when the scope names another tenant, because silently holding the own tenant's
 * tasks instead would be wrong
 */
export function withinTenantOf(caller: Caller, scope: HoldScope): HoldScope {
  if (caller.tenant === ALL_TENANTS) return scope
  if ('all' in scope) return { tenant: caller.tenant }
  if ('tenant' in scope && (scope.tenant ?? caller.tenant) !== caller.tenant) {
    throw new LullError('NOT_FOUND', { what: 'tenant', id: scope.tenant ?? '' })
  }
  return { ...scope, tenant: caller.tenant }
}

/**
 * The owner of a hold, budget or rule that this caller creates. `*` for operators of all tenants.
 */
export function ownerFor({ tenant, ofAllTenants }: Caller): string {
  return ofAllTenants === true ? ALL_TENANTS : tenant
}

/** Whether the caller may change a hold, budget or rule with this owner. */
export function isOwner(caller: Caller, owner: string): boolean {
  const own = ownerFor(caller)
  return own === ALL_TENANTS || own === owner
}

/** Whether the caller may see the hold, budget or rule: its scope must name the caller's tenant. */
export function maySeeScope(caller: Caller, hold: Pick<Hold, 'scope'>): boolean {
  if (caller.tenant === ALL_TENANTS) return true
  return 'tenant' in hold.scope && hold.scope.tenant === caller.tenant
}
