/**
 * Holds: an operator stops many tasks at once. The parts are in `holds/`.
 *
 * H1  A hold is durable before the first task is stopped, and its lifting before the first task is resumed. When a
 *     process dies in between, the next one finishes the work before any task runs.
 * H2  When the request of a hold is answered, every task in its scope that existed at the time of
 *     the request is held, however busy the tasks are. Tasks are listed in a stable order, after
 *     every create that was decided earlier is durable.
 * H3  A task that is created while a hold is applied, or by a task the hold stops, is created under the hold.
 * H4  Lifting a hold resumes the tasks that this hold stopped, and no others.
 * H5  In a shared store a hold is written only if no hold was placed or lifted since the decision
 *     read the holds. So no process undoes a lift by another one.
 */

import type { HoldMark } from '../../core/commands.ts'
import { LullError } from '../../core/errors.ts'
import type { Task } from '../../core/task.ts'
import type { HoldsInEffect } from '../../ports/store/cluster.ts'
import type { Hold } from '../../ports/store/holds.ts'
import type { Caller } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import { id } from '../input/primitives.ts'
import { childOf } from '../requests/child-of.ts'
import type { OperatorList, OperatorVerb } from '../requests/verb.ts'
import { type ActiveHolds, createActiveHolds } from './active-holds.ts'
import { holdTask, holdTasks, liftStaleHolds, liftTask, liftTasks } from './held-tasks.ts'
import { type HoldableTask, isOwner, maySeeScope } from './hold-scope.ts'
import { createPlaceHold, type PlaceHold } from './place-hold.ts'

export const listHolds: OperatorList<'holds'> = {
  capability: 'holds',
  scope: 'ops:read',
  method: ({ holds }) => holds.list,
}

export interface Holds extends PlaceHold {
  readonly lift: LiftHold
  list(caller: Caller): Promise<readonly Hold[]>
  /** The holds that cover a new task. */
  forNew(task: HoldableTask): readonly HoldMark[]
  /** Whether this process knows the hold as one that is in effect. */
  isInEffect(holdId: string): boolean
  /** Applies the holds of a parent to a child that it created at the same time (H3). */
  holdChild(parent: Task, childId: string): Promise<void>
  /** The epoch of the holds that new tasks are created under. Only in a shared store. */
  readonly epoch: () => number
  /** Called when the store may have lost holds, and so may use their epochs again. */
  forgetEpoch(): void
  /** Reads the holds in effect. Does nothing unless the store is shared. */
  refresh(): Promise<void>
  /** Reads the holds, and completes holds and lifts that a dead process left half-way. */
  start(): Promise<void>
}

/** What holds need in a shared store. */
export interface SharedHolds {
  readonly read: () => Promise<HoldsInEffect>
  /**
   * Resolves when no process will start an operation of a task that is held at the time of the
   * call.
   */
  readonly everywhere: () => Promise<void>
}

/** @param shared present in a shared store */
export function createHolds(context: EngineContext, shared?: SharedHolds): Holds {
  const read = shared?.read
  const active = createActiveHolds(read)

  /**
   * Whether the hold is in effect. This process knows it, or finds it in the store: a hold is
   * stored before the first task is held (H1).
   */
  async function isActive(holdId: string): Promise<boolean> {
    if (!active.has(holdId)) await active.refresh()
    return active.has(holdId)
  }

  async function holdChild(parent: Task, childId: string): Promise<void> {
    if ((await childOf(context, parent, childId)) === undefined) return
    for (const holdId of parent.holds) {
      await isActive(holdId)
      const hold = active.get(holdId)
      if (hold === undefined) continue
      await holdTask(context, hold, childId)
      await active.refresh()
      // The hold was lifted before it held the child.
      if (!active.has(holdId)) await liftTask(context, holdId, childId, hold.actor.id)
    }
  }

  const placing = createPlaceHold(context, active, shared?.everywhere)
  const lift = createLiftHold(context, active, read !== undefined)
  return {
    ...placing,
    hold: (...request) => context.followUps.during(() => placing.hold(...request)),
    holdAhead: (...request) => context.followUps.during(() => placing.holdAhead(...request)),
    holdByRule: (...request) => context.followUps.during(() => placing.holdByRule(...request)),
    lift: (...request) => context.followUps.during(() => lift(...request)),
    async list(caller) {
      await active.refresh()
      return active.all().filter((hold) => maySeeScope(caller, hold))
    },
    forNew: active.forNew,
    isInEffect: active.has,
    holdChild,
    epoch: active.epoch,
    forgetEpoch: active.forgetEpoch,
    refresh: active.refresh,
    async start() {
      if (read === undefined) for (const hold of await context.store.holds()) active.add(hold)
      await active.refresh()
      for (const hold of active.all()) await holdTasks(context, hold)
      await liftStaleHolds(context, isActive)
    },
  }
}

/** Lifts a hold: durably first, then from every task that it stopped (H1, H4). */
export interface LiftAnswer {
  readonly holdId: string
  /** How many tasks the hold was lifted from. */
  readonly tasks: number
}

export const liftVerb: OperatorVerb<'lift'> = {
  capability: 'holds',
  scope: 'ops:control',
  input: id,
  audited: { action: 'hold.lift' },
  method: ({ holds }) => holds.lift,
}

type LiftHold = (caller: Caller, holdId: string) => Promise<LiftAnswer>

function createLiftHold(context: EngineContext, active: ActiveHolds, isShared: boolean): LiftHold {
  async function liftActive(caller: Caller, hold: Hold): Promise<LiftAnswer> {
    await context.store.putHold({ ...hold, liftedAt: context.clock.now() })
    active.remove(hold.id)
    await active.refresh()
    // After this, every task whose create was decided under the hold is in the store.
    await context.ledger.createsSettled()
    try {
      return { holdId: hold.id, tasks: await liftTasks(context, hold, caller.principal) }
    } catch (error) {
      // The hold counts as in effect again, because some tasks are still held. Lifting it once more
      // reaches them.
      active.add(hold)
      throw error
    }
  }

  /**
   * Completes a lift that failed half-way in another process of a shared store. It is found in the
   * store only. Undefined when no task has the hold.
   */
  async function liftRest(caller: Caller, holdId: string): Promise<LiftAnswer | undefined> {
    if (!isShared) return undefined
    const hold = (await context.store.holds(true)).find(({ id }) => id === holdId)
    if (hold === undefined || !maySeeScope(caller, hold)) return undefined
    checkOwner(caller, hold)
    const tasks = await liftTasks(context, hold, caller.principal)
    return tasks === 0 ? undefined : { holdId, tasks }
  }

  return async (caller, holdId) => {
    await active.refresh()
    const hold = active.get(holdId)
    if (hold !== undefined && maySeeScope(caller, hold)) {
      checkOwner(caller, hold)
      return liftActive(caller, hold)
    }
    const lifted = await liftRest(caller, holdId)
    if (lifted !== undefined) return lifted
    const instead = inEffect(active, caller)
    throw new LullError('NOT_FOUND', { what: 'hold', id: holdId, instead })
  }
}

/** The holds named in an error. */
const NAMED = 10

function inEffect(active: ActiveHolds, caller: Caller): string {
  const ids = active.all().flatMap((hold) => (maySeeScope(caller, hold) ? [hold.id] : []))
  if (ids.length === 0) return 'nothing is held'
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : ''
  return `in effect: ${ids.slice(-NAMED).join(', ')}${more}`
}

function checkOwner(caller: Caller, hold: Hold): void {
  if (isOwner(caller, hold.owner)) return
  const problem = 'is a hold that only operators of all tenants lift'
  throw new LullError('INVALID_INPUT', { path: 'holdId', problem })
}
