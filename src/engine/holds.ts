/**
 * Holds: an operator stops many tasks at once. The hold is durable before the first task is touched, so that a crash in
 * between is finished at the next start; lifting is marked the same way.
 */

import type { HoldMark } from '../core/commands.ts'
import { LullError } from '../core/errors.ts'
import type { Birth } from '../core/records.ts'
import { isTerminal, type State } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import type { Hold, HoldScope } from '../ports/store/holds.ts'
import type { TaskQuery } from '../ports/store/tasks.ts'
import { ALL_TENANTS, type Caller } from './caller.ts'
import { type EngineContext, mintHandle } from './context.ts'
import { holdInput } from './inputs.ts'
import { parse } from './parse.ts'
import type { HoldRequest } from './requests.ts'

/** What is known of a task before it exists. */
/** What of a task a scope looks at. */
type Covered = Pick<Birth, 'taskId' | 'tenant' | 'agent' | 'contextId'>

export type HoldOutcome = 'held' | 'already_held' | 'terminal' | 'unknown'

export interface HoldAnswer {
  readonly holdId: string
  /** One per task, sorted by id. */
  readonly outcomes: readonly { readonly taskId: string; readonly outcome: HoldOutcome }[]
}

export interface Holds {
  hold(caller: Caller, request: HoldRequest): Promise<HoldAnswer>
  lift(caller: Caller, holdId: string): Promise<{ readonly holdId: string; readonly tasks: number }>
  list(caller: Caller): Promise<readonly Hold[]>
  /** The holds a new task is born under. */
  forNew(birth: Covered): readonly HoldMark[]
  start(): Promise<void>
}

const PAGE = 256
const nothingHeld: readonly HoldMark[] = []
const open: readonly State[] = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'user-consent-required',
  'paused-by-client',
  'paused-by-agent',
]

export function createHolds(contextOf: () => EngineContext): Holds {
  /** Holds that are not lifted. */
  const active = new Map<string, Hold>()
  const storing = new Map<string, Promise<void>>()

  async function hold(caller: Caller, request: HoldRequest): Promise<HoldAnswer> {
    const { scope, reason, holdNew = false } = parse(holdInput, request)
    const { store, ledger, ids, clock } = contextOf()
    const mine = within(caller, scope)
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
    if (same === undefined) {
      // In effect for new tasks before it is durable, so that none slips through.
      active.set(made.id, made)
      storing.set(made.id, store.putHold(made))
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
    // Who was decided before it is there to be found.
    await ledger.createsSettled()
    const outcomes = await apply(made)
    // Lifted while it was still being applied.
    if (!active.has(made.id)) await liftAll(made, caller.principal)
    return { holdId: made.id, outcomes: outcomes.sort((a, b) => (a.taskId < b.taskId ? -1 : 1)) }
  }

  /** Tasks born under a hold that could not be kept are let go; what cannot be reached now is let go at the next start. */
  async function takeBack(made: Hold): Promise<void> {
    const { ledger, log } = contextOf()
    try {
      await ledger.createsSettled()
      await liftAll(made, made.actor.id)
    } catch (error) {
      log('error', 'tasks are held by a hold that could not be kept', { holdId: made.id, error })
    }
  }

  async function apply(made: Hold): Promise<{ taskId: string; outcome: HoldOutcome }[]> {
    const outcomes: { taskId: string; outcome: HoldOutcome }[] = []
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
    if (task === undefined || !covered(made.scope, { ...task, taskId })) return 'unknown'
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
    if (known === undefined || !covers(caller, known)) {
      const problem = 'is not a hold that is in effect'
      throw new LullError('INVALID_INPUT', { path: 'holdId', problem })
    }
    await store.putHold({ ...known, liftedAt: clock.now() })
    active.delete(holdId)
    // Who was decided under it is there to be found.
    await ledger.createsSettled()
    try {
      return { holdId, tasks: await liftAll(known, caller.principal) }
    } catch (error) {
      // Some tasks are still held by it: lifting it again finishes what was begun.
      active.set(holdId, known)
      throw error
    }
  }

  async function liftAll(known: Pick<Hold, 'id' | 'scope'>, principal: string): Promise<number> {
    const { runs, ledger } = contextOf()
    let tasks = 0
    for await (const taskIds of inScope(known.scope, true)) {
      const lifted = await Promise.all(
        taskIds.map(async (taskId) => {
          const task = await ledger.read(taskId)
          if (!task?.holds.includes(known.id)) return false
          await runs.commit(taskId, task.agent, (_now, run) => ({
            type: 'lift',
            holdId: known.id,
            actor: { kind: 'operator', id: principal },
            ...(run === undefined ? {} : { run }),
          }))
          return true
        }),
      )
      tasks += lifted.filter(Boolean).length
    }
    return tasks
  }

  /** Pages of task ids. Rows are re-read by id, so a page that shifts under us only costs a repeat. */
  async function* inScope(scope: HoldScope, held?: boolean): AsyncGenerator<readonly string[]> {
    if ('taskIds' in scope) {
      yield [...new Set(scope.taskIds)]
      return
    }
    const { store } = contextOf()
    const { all: _, ...filter } = { all: true, ...scope }
    const query: TaskQuery = {
      ...filter,
      states: open,
      limit: PAGE,
      ...(held === undefined ? {} : { held }),
    }
    const ids: string[] = []
    let before: TaskQuery['before']
    for (;;) {
      const page = await store.list(before === undefined ? query : { ...query, before })
      ids.push(...page.map((row) => row.id))
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) break
      before = { statusAt: last.statusAt, id: last.id }
    }
    for (let at = 0; at < ids.length; at += PAGE) yield ids.slice(at, at + PAGE)
  }

  function forNew(birth: Covered): readonly HoldMark[] {
    if (active.size === 0) return nothingHeld
    return [...active.values()]
      .filter((known) => known.holdNew && covered(known.scope, birth))
      .map(markOf)
  }

  async function start(): Promise<void> {
    const { store, ledger } = contextOf()
    for (const known of await store.holds()) active.set(known.id, known)
    for (const known of active.values()) await apply(known)
    // A crash in the middle of lifting, or a hold that was never kept: these tasks are held by what is not in effect.
    for await (const taskIds of inScope({ all: true }, true)) {
      for (const taskId of taskIds) {
        const task: Task | undefined = await ledger.read(taskId)
        for (const holdId of task?.holds ?? []) {
          if (active.has(holdId)) continue
          const lifted = (await store.holds(true)).find((one) => one.id === holdId)
          await liftAll(
            lifted ?? { id: holdId, scope: { taskIds: [taskId] } },
            lifted?.actor.id ?? 'lull',
          )
        }
      }
    }
  }

  return {
    hold,
    lift,
    list: async (caller) => [...active.values()].filter((known) => covers(caller, known)),
    forNew,
    start,
  }
}

function markOf({ id, reason, actor }: Hold): HoldMark {
  return { holdId: id, reason, actor: { kind: 'operator', id: actor.id } }
}

/** A tenant's operator holds within the tenant, whatever the scope says. */
function within(caller: Caller, scope: HoldScope): HoldScope {
  if (caller.tenant === ALL_TENANTS) return scope
  if ('all' in scope) return { tenant: caller.tenant }
  return { ...scope, tenant: caller.tenant }
}

function covers(caller: Caller, hold: Hold): boolean {
  if (caller.tenant === ALL_TENANTS) return true
  return 'tenant' in hold.scope && hold.scope.tenant === caller.tenant
}

function covered(scope: HoldScope, task: Covered): boolean {
  if ('all' in scope) return true
  if (scope.tenant !== undefined && scope.tenant !== task.tenant) return false
  if ('taskIds' in scope) return scope.taskIds.includes(task.taskId)
  if ('agent' in scope) return scope.agent === task.agent
  if ('contextId' in scope) return scope.contextId === task.contextId
  return true
}
