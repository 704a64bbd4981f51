/** What the parts of the engine share. One plain object, made in `assemble.ts`. */
import { LullError } from '../core/errors.ts'
import type { Signer } from '../core/receipts/receipt.ts'
import type { Task } from '../core/task.ts'
import type { Clock } from '../ports/clock.ts'
import type { IdSource } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { Meter } from '../ports/meter.ts'
import type { Store } from '../ports/store.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { Agent } from './author/agent.ts'
import type { AgentTable } from './author/agent-table.ts'
import { type Act, type Caller, mayAct, maySee, reachScopes, tenantOf } from './caller.ts'
import type { Membership } from './cluster/membership.ts'
import type { Runs } from './executor/runs.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { TaskPlaces } from './ledger/task-places.ts'
import type { Quotas } from './limits/quotas.ts'
import type { Audit } from './observe/audit.ts'
import type { EngineOptions } from './options.ts'
import type { BudgetChecks } from './policies/check-budgets.ts'
import type { AdmitReminders } from './requests/remind/reminder-rate.ts'
import type { Subscriptions } from './streams/subscriptions.ts'
import type { FollowUps } from './upkeep/follow-ups.ts'
import type { Events } from './wakes/events.ts'
import type { WakeByChild } from './wakes/wake-by-child.ts'

export interface EngineContext {
  readonly store: Store
  readonly ledger: Ledger
  readonly places: TaskPlaces
  readonly runs: Runs
  readonly events: Events
  readonly childEnds: WakeByChild
  readonly followUps: FollowUps
  readonly subscriptions: Subscriptions
  readonly quotas: Quotas
  readonly admitReminders: AdmitReminders
  readonly budgetChecks: BudgetChecks
  readonly audit: Audit
  readonly agents: ReadonlyMap<string, Agent>
  readonly table: Pick<AgentTable, 'replace' | 'during' | 'closeAll'>
  readonly clock: Clock
  readonly ids: IdSource
  readonly signer: Signer
  /** Of this program, named in exports. */
  readonly version: string
  readonly log: Log
  readonly tracing: Tracing
  readonly meter: Meter
  readonly options: EngineOptions
  /** False when another process does the work of that name. */
  readonly takeDuty: Membership['takeDuty']
  readonly draining: () => boolean
}

/** A longer id would come back in the error, and fill logs. */
const LONGEST_ID = 256

/**
 * The task, if the caller may do this kind of act to it.
 * @throws LullError `TASK_NOT_FOUND`, also for a task that the caller may not see; `FORBIDDEN` for one that it may only see
 */
export async function taskFor(
  context: EngineContext,
  caller: Caller,
  taskId: string,
  act: Act,
): Promise<Task> {
  if (typeof taskId !== 'string' || taskId === '' || taskId.length > LONGEST_ID) {
    throw new LullError('INVALID_INPUT', { path: 'taskId', problem: 'must be the id of a task' })
  }
  const task = context.ledger.peek(taskId) ?? (await context.ledger.read(taskId, tenantOf(caller)))
  if (task === undefined || !maySee(caller, task)) throw new LullError('TASK_NOT_FOUND', { taskId })
  if (!mayAct(caller, act, task)) throw new LullError('FORBIDDEN', { scope: reachScopes[act] })
  return task
}

export function mintHandle(ids: IdSource): string {
  return `suspend-${ids.uuid()}`
}
