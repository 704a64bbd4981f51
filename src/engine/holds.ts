/**
 * Holds: an operator stops many tasks at once. The parts are in `holds/`.
 *
 * H1  A hold is durable before the first task is stopped, and its lifting before the first task is resumed. When a
 *     process dies in between, the next one finishes the work before any task runs.
 * H2  When a hold is answered, it holds every task in its scope that existed when it was asked for, however busy the tasks
 *     are. Tasks are read in an order that never changes, after every creation that was decided before is durable.
 * H3  A task that is created while a hold is applied, or by a task the hold stops, is created under the hold.
 * H4  Lifting a hold resumes the tasks that this hold stopped, and no others.
 */

import type { HoldMark } from '../core/commands.ts'
import { LullError } from '../core/errors.ts'
import type { Task } from '../core/task.ts'
import type { HoldsInEffect } from '../ports/store/cluster.ts'
import type { Hold } from '../ports/store/holds.ts'
import type { Caller } from './caller.ts'
import type { EngineContext } from './context.ts'
import { createActiveHolds } from './holds/active-holds.ts'
import { holdTask, holdTasks, liftStaleHolds, liftTask, liftTasks } from './holds/held-tasks.ts'
import { type HoldableTask, maySeeHold } from './holds/hold-scope.ts'
import { createPlaceHold, type PlaceHold } from './holds/place-hold.ts'

export interface Holds {
  readonly hold: PlaceHold
  lift(caller: Caller, holdId: string): Promise<LiftAnswer>
  list(caller: Caller): Promise<readonly Hold[]>
  /** The holds a new task is created under. */
  forNew(task: HoldableTask): readonly HoldMark[]
  /** Applies the holds of a parent to a child that the parent created meanwhile (H3). */
  holdChild(parent: Task, childId: string): Promise<void>
  /** In a shared store: the epoch of the holds that new tasks are created under. */
  readonly epoch: () => number
  /** In a shared store: reads the holds that are in effect now. */
  refresh(): Promise<void>
  /** Reads the holds, and finishes what a process that is gone has left: holds and lifts that stopped half-way. */
  start(): Promise<void>
}

export interface LiftAnswer {
  readonly holdId: string
  /** How many tasks the hold was lifted from. */
  readonly tasks: number
}

/** @param read reads the holds of a shared store */
export function createHolds(
  contextOf: () => EngineContext,
  read?: () => Promise<HoldsInEffect>,
): Holds {
  const active = createActiveHolds(read)

  /** A hold is known to this process, or to the store before the first task is held (H1). */
  async function isActive(holdId: string): Promise<boolean> {
    if (!active.has(holdId)) await active.refresh()
    return active.has(holdId)
  }

  async function lift(caller: Caller, holdId: string): Promise<LiftAnswer> {
    const context = contextOf()
    await active.refresh()
    const hold = active.get(holdId)
    if (hold === undefined || !maySeeHold(caller, hold)) {
      const lifted = await liftRest(caller, holdId)
      if (lifted !== undefined) return lifted
      const problem = 'is not a hold that is in effect'
      throw new LullError('INVALID_INPUT', { path: 'holdId', problem })
    }
    await context.store.putHold({ ...hold, liftedAt: context.clock.now() })
    active.remove(holdId)
    await active.refresh()
    // After this, every task whose creation was decided under the hold is in the store.
    await context.ledger.createsSettled()
    try {
      return { holdId, tasks: await liftTasks(context, hold, caller.principal) }
    } catch (error) {
      // Some tasks are still held. Lifting the hold again reaches them.
      active.add(hold)
      throw error
    }
  }

  /**
   * In a shared store: a lift that failed half-way is not known to the other processes, so it is looked for in the store.
   * Undefined when the hold holds no task.
   */
  async function liftRest(caller: Caller, holdId: string): Promise<LiftAnswer | undefined> {
    if (read === undefined) return undefined
    const context = contextOf()
    const hold = (await context.store.holds(true)).find(({ id }) => id === holdId)
    if (hold === undefined || !maySeeHold(caller, hold)) return undefined
    const tasks = await liftTasks(context, hold, caller.principal)
    return tasks === 0 ? undefined : { holdId, tasks }
  }

  async function holdChild(parent: Task, childId: string): Promise<void> {
    for (const holdId of parent.holds) {
      await isActive(holdId)
      const hold = active.get(holdId)
      if (hold === undefined) continue
      await holdTask(contextOf(), hold, childId)
      await active.refresh()
      // The hold was lifted before it held the child.
      if (!active.has(holdId)) await liftTask(contextOf(), holdId, childId, hold.actor.id)
    }
  }

  return {
    hold: createPlaceHold(contextOf, active),
    lift,
    async list(caller) {
      await active.refresh()
      return active.all().filter((hold) => maySeeHold(caller, hold))
    },
    forNew: active.forNew,
    holdChild,
    epoch: active.epoch,
    refresh: active.refresh,
    async start() {
      const context = contextOf()
      if (read === undefined) for (const hold of await context.store.holds()) active.add(hold)
      await active.refresh()
      for (const hold of active.all()) await holdTasks(context, hold)
      await liftStaleHolds(context, isActive)
    },
  }
}
