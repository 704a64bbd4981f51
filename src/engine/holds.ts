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
  start(): Promise<void>
}

export interface LiftAnswer {
  readonly holdId: string
  /** How many tasks the hold was lifted from. */
  readonly tasks: number
}

export function createHolds(contextOf: () => EngineContext): Holds {
  const active = createActiveHolds()

  async function lift(caller: Caller, holdId: string): Promise<LiftAnswer> {
    const context = contextOf()
    const hold = active.get(holdId)
    if (hold === undefined || !maySeeHold(caller, hold)) {
      const problem = 'is not a hold that is in effect'
      throw new LullError('INVALID_INPUT', { path: 'holdId', problem })
    }
    await context.store.putHold({ ...hold, liftedAt: context.clock.now() })
    active.remove(holdId)
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

  async function holdChild(parent: Task, childId: string): Promise<void> {
    for (const holdId of parent.holds) {
      const hold = active.get(holdId)
      if (hold === undefined) continue
      await holdTask(contextOf(), hold, childId)
      // The hold was lifted before it held the child.
      if (!active.has(holdId)) await liftTask(contextOf(), holdId, childId, hold.actor.id)
    }
  }

  return {
    hold: createPlaceHold(contextOf, active),
    lift,
    list: async (caller) => active.all().filter((hold) => maySeeHold(caller, hold)),
    forNew: active.forNew,
    holdChild,
    async start() {
      const context = contextOf()
      for (const hold of await context.store.holds()) active.add(hold)
      for (const hold of active.all()) await holdTasks(context, hold)
      await liftStaleHolds(context, active.has)
    },
  }
}
