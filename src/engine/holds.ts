/**
 * Holds: an operator stops many tasks at once.
 *
 * H1  The hold is durable before the first task is touched, and so is its lifting: a process that dies in between is
 *     finished by the next one, before any task runs.
 * H2  When a hold is answered, it holds every task in its scope that existed when it was asked for, however busy the tasks
 *     are. Tasks are read in an order that never changes, after every creation that was decided before is durable.
 * H3  A task that is created while a hold is applied, or by a task the hold stops, is created under the hold.
 * H4  Lifting resumes what the hold stopped, and nothing else.
 */

import type { HoldMark } from '../core/commands.ts'
import { LullError } from '../core/errors.ts'
import { isTerminal } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import type { Hold, HoldScope } from '../ports/store/holds.ts'
import type { OpenTaskQuery } from '../ports/store/tasks.ts'
import type { Caller } from './caller.ts'
import { type EngineContext, mintHandle } from './context.ts'
import { type HoldableTask, isCovered, maySeeHold, queryOf, withinTenantOf } from './hold-scope.ts'
import { holdInput } from './inputs.ts'
import { isUnreadable } from './ledger/unreadable-task.ts'
import { parse } from './parse.ts'
import type { HoldRequest } from './requests.ts'

export type HoldOutcome = 'held' | 'already_held' | 'terminal' | 'unknown'

export interface HoldAnswer {
  readonly holdId: string
  /** One per task, sorted by id. */
  readonly outcomes: readonly TaskOutcome[]
}

export interface TaskOutcome {
  readonly taskId: string
  readonly outcome: HoldOutcome
}

export interface Holds {
  hold(caller: Caller, request: HoldRequest): Promise<HoldAnswer>
  lift(caller: Caller, holdId: string): Promise<{ readonly holdId: string; readonly tasks: number }>
  list(caller: Caller): Promise<readonly Hold[]>
  /** The holds a new task is created under. */
  forNew(task: HoldableTask): readonly HoldMark[]
  /** Applies the holds of a parent to a child it created meanwhile (H3). */
  holdChild(parent: Task, childId: string): Promise<void>
  start(): Promise<void>
}

const PAGE = 256
const noHolds: readonly HoldMark[] = []

export function createHolds(contextOf: () => EngineContext): Holds {
  /** Holds that are not lifted. */
  const active = new Map<string, Hold>()
  const storing = new Map<string, Promise<void>>()
  /** Holds that are being applied, each with how many calls do so. */
  const applying = new Map<string, number>()

  async function hold(caller: Caller, request: HoldRequest): Promise<HoldAnswer> {
    const { scope, reason, holdNew = false } = parse(holdInput, request)
    const { ledger, ids, clock } = contextOf()
    const mine = withinTenantOf(caller, scope)
    const same = [...active.values()].find(
      (known) => JSON.stringify(known.scope) === JSON.stringify(mine) && known.holdNew === holdNew,
    )
    const made: Hold = same ?? {
      id: `hold-${ids.uuid()}`,
      scope: mine,
      reason,
      holdNew,
      actor: { kind: 'operator', id: caller.principal },
      createdAt: clock.now(),
    }
    const outcomes = await whileApplying(made, async () => {
      await keep(made)
      await ledger.createsSettled()
      return apply(made)
    })
    // Lifted while it was being applied.
    if (!active.has(made.id)) await liftAll(made, caller.principal)
    return {
      holdId: made.id,
      outcomes: outcomes
        .map((one) => (same === undefined ? asNew(one) : one))
        .sort((a, b) => (a.taskId < b.taskId ? -1 : 1)),
    }
  }

  async function whileApplying<T>({ id }: Hold, work: () => Promise<T>): Promise<T> {
    applying.set(id, (applying.get(id) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = (applying.get(id) ?? 1) - 1
      if (left === 0) applying.delete(id)
      else applying.set(id, left)
    }
  }

  /** Makes the hold durable. It counts for new tasks before that, so that none is missed. */
  async function keep(made: Hold): Promise<void> {
    if (!active.has(made.id)) {
      active.set(made.id, made)
      storing.set(made.id, contextOf().store.putHold(made))
    }
    try {
      await storing.get(made.id)
    } catch (error) {
      active.delete(made.id)
      await takeBack(made)
      throw error
    } finally {
      storing.delete(made.id)
    }
  }

  /** Lifts a hold that could not be stored from the tasks created under it. The next start lifts what is left. */
  async function takeBack(made: Hold): Promise<void> {
    const { ledger, log } = contextOf()
    try {
      await ledger.createsSettled()
      await liftAll(made, made.actor.id)
    } catch (error) {
      log('error', 'tasks are held by a hold that could not be stored', { holdId: made.id, error })
    }
  }

  async function apply(made: Hold): Promise<readonly TaskOutcome[]> {
    const outcomes: TaskOutcome[] = []
    for await (const taskIds of inScope(made.scope)) {
      outcomes.push(
        ...(await Promise.all(
          taskIds.map(async (taskId) => ({ taskId, outcome: await holdOne(made, taskId) })),
        )),
      )
    }
    return outcomes
  }

  async function holdOne(made: Hold, taskId: string): Promise<HoldOutcome> {
    const { ledger, runs, ids } = contextOf()
    const task = await ledger.read(taskId)
    if (task === undefined || !isCovered(made.scope, { ...task, taskId })) return 'unknown'
    // It cannot run, and nothing can be written to it.
    if (isUnreadable(task)) return 'unknown'
    if (isTerminal(task.state)) return 'terminal'
    const { records, task: after } = await runs.commitStop(
      taskId,
      'interrupt_immediate',
      (_now, atBoundary) => ({
        type: 'hold',
        hold: markOf(made),
        handle: mintHandle(ids),
        atBoundary,
      }),
    )
    if (records.length > 0) return 'held'
    return isTerminal(after.state) ? 'terminal' : 'already_held'
  }

  async function lift(
    caller: Caller,
    holdId: string,
  ): Promise<{ readonly holdId: string; readonly tasks: number }> {
    const { store, ledger, clock } = contextOf()
    const known = active.get(holdId)
    if (known === undefined || !maySeeHold(caller, known)) {
      const problem = 'is not a hold that is in effect'
      throw new LullError('INVALID_INPUT', { path: 'holdId', problem })
    }
    await store.putHold({ ...known, liftedAt: clock.now() })
    active.delete(holdId)
    // Tasks whose creation was decided under the hold are in the store after this.
    await ledger.createsSettled()
    try {
      return { holdId, tasks: await liftAll(known, caller.principal) }
    } catch (error) {
      // Some tasks are still held. Lifting it again lifts the rest.
      active.set(holdId, known)
      throw error
    }
  }

  async function liftAll(known: Pick<Hold, 'id' | 'scope'>, principal: string): Promise<number> {
    let tasks = 0
    for await (const taskIds of inScope(known.scope, true)) {
      const lifted = await Promise.all(
        taskIds.map((taskId) => liftOne(known.id, taskId, principal)),
      )
      tasks += lifted.filter(Boolean).length
    }
    return tasks
  }

  /** False: the hold does not hold the task. */
  async function liftOne(holdId: string, taskId: string, principal: string): Promise<boolean> {
    const { runs, ledger } = contextOf()
    const task = await ledger.read(taskId)
    if (!task?.holds.includes(holdId)) return false
    await runs.commit(taskId, task.agent, (_now, run) => ({
      type: 'lift',
      holdId,
      actor: { kind: 'operator', id: principal },
      ...(run === undefined ? {} : { run }),
    }))
    return true
  }

  /** Pages of task ids. Every open task in scope that exists now is in one of them (H2). */
  async function* inScope(scope: HoldScope, onlyHeld = false): AsyncGenerator<readonly string[]> {
    if ('taskIds' in scope) {
      yield [...new Set(scope.taskIds)]
      return
    }
    const { store } = contextOf()
    const query = { ...queryOf(scope), limit: PAGE, ...(onlyHeld ? { held: true as const } : {}) }
    let after: OpenTaskQuery['after']
    for (;;) {
      const page = await store.openTasks(after === undefined ? query : { ...query, after })
      yield page.filter((row) => isCovered(scope, { ...row, taskId: row.id })).map(({ id }) => id)
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      after = { contextId: last.contextId, id: last.id }
    }
  }

  function forNew(task: HoldableTask): readonly HoldMark[] {
    if (active.size === 0) return noHolds
    return [...active.values()]
      .filter(({ id, holdNew }) => holdNew || applying.has(id))
      .filter(({ scope }) => isCovered(scope, task))
      .map(markOf)
  }

  async function holdChild(parent: Task, childId: string): Promise<void> {
    for (const holdId of parent.holds) {
      const known = active.get(holdId)
      if (known === undefined) continue
      await holdOne(known, childId)
      // Lifted meanwhile, before the child was held.
      if (!active.has(holdId)) await liftOne(holdId, childId, known.actor.id)
    }
  }

  async function start(): Promise<void> {
    const { store } = contextOf()
    for (const known of await store.holds()) active.set(known.id, known)
    for (const known of active.values()) await apply(known)
    await liftLeftovers()
  }

  /** Tasks that are held by a hold that is not in effect: its lifting was interrupted, or it was never stored. */
  async function liftLeftovers(): Promise<void> {
    const { ledger } = contextOf()
    for await (const taskIds of inScope({ all: true }, true)) {
      for (const taskId of taskIds) {
        const held = (await ledger.read(taskId))?.holds ?? []
        for (const holdId of held) if (!active.has(holdId)) await liftOne(holdId, taskId, 'lull')
      }
    }
  }

  return {
    hold,
    lift,
    list: async (caller) => [...active.values()].filter((known) => maySeeHold(caller, known)),
    forNew,
    holdChild,
    start,
  }
}

/** A new hold holds nothing before: a task it holds already was created under it. */
function asNew({ taskId, outcome }: TaskOutcome): TaskOutcome {
  return { taskId, outcome: outcome === 'already_held' ? 'held' : outcome }
}

function markOf({ id, reason, actor }: Hold): HoldMark {
  return { holdId: id, reason, actor: { kind: 'operator', id: actor.id } }
}
