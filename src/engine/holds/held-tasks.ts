/** Holds tasks in the scope of a hold, and lifts the hold from them, page by page. */
import { mayStillAct } from '../../core/evolve/abandoned.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Hold, HoldScope } from '../../ports/store/holds.ts'
import type { OpenTaskQuery, TaskRow } from '../../ports/store/tasks.ts'
import { type EngineContext, mintHandle } from '../context.ts'
import { isUnreadable } from '../ledger/unreadable-task.ts'
import { markOf } from './active-holds.ts'
import { isCovered, queryOf } from './hold-scope.ts'

export type HoldOutcome = 'held' | 'already_held' | 'terminal' | 'unknown'

export interface TaskOutcome {
  readonly taskId: string
  readonly outcome: HoldOutcome
  /**
   * Set when a running step was told to stop and has not ended. The task stops when it ends, or
   * after its `abandonAfterMs`.
   */
  readonly pausing?: true
  /**
   * Names of steps that were told to stop earlier and did not. They may act although the task is
   * held.
   */
  readonly mayStillAct?: readonly string[]
}

type Context = Pick<EngineContext, 'store' | 'places' | 'ledger' | 'runs' | 'ids'>

const PAGE = 256

/** Holds every task in the scope of the hold. */
export async function holdTasks(context: Context, hold: Hold): Promise<readonly TaskOutcome[]> {
  const outcomes: TaskOutcome[] = []
  for await (const taskIds of tasksIn(context, hold.scope)) {
    const page = taskIds.map((taskId) => holdTask(context, hold, taskId))
    outcomes.push(...(await Promise.all(page)))
  }
  return outcomes
}

export async function holdTask(
  { ledger, runs, ids }: Context,
  hold: Hold,
  taskId: string,
): Promise<TaskOutcome> {
  const { scope } = hold
  const task = await ledger.read(taskId, 'tenant' in scope ? scope.tenant : undefined)
  if (task === undefined || !isCovered(hold.scope, { ...task, taskId })) {
    return { taskId, outcome: 'unknown' }
  }
  // An unreadable task cannot run, and cannot be written to.
  if (isUnreadable(task)) return { taskId, outcome: 'unknown' }
  if (isTerminal(task.state)) return { taskId, outcome: 'terminal', ...whatActs(task) }
  const { mode = 'interrupt_immediate' } = hold
  const { records, latest } = await runs.commitStop(taskId, mode, (_now, atBoundary) => ({
    type: 'hold',
    hold: markOf(hold),
    mode,
    handle: mintHandle(ids),
    atBoundary,
  }))
  const outcome =
    records.length > 0 ? 'held' : isTerminal(latest.state) ? 'terminal' : 'already_held'
  return { taskId, outcome, ...whatActs(latest) }
}

/** Which steps of the task may still act although it is held. */
function whatActs(task: Task): Pick<TaskOutcome, 'pausing' | 'mayStillAct'> {
  const acting = mayStillAct(task)
  return {
    ...(task.pausing === undefined ? {} : { pausing: true }),
    ...(acting === undefined ? {} : { mayStillAct: acting }),
  }
}

/** Lifts the hold from every task that has it, and returns their number. */
export async function liftTasks(
  context: Context,
  { id, scope }: Pick<Hold, 'id' | 'scope'>,
  principal: string,
): Promise<number> {
  let tasks = 0
  for await (const taskIds of tasksIn(context, scope, 'held')) {
    const page = taskIds.map((taskId) => liftTask(context, id, taskId, principal))
    tasks += (await Promise.all(page)).filter(Boolean).length
  }
  return tasks
}

/** Returns false if the task does not have the hold. */
export async function liftTask(
  { runs, ledger }: Context,
  holdId: string,
  taskId: string,
  principal: string,
): Promise<boolean> {
  const task = await ledger.read(taskId)
  if (!task?.holds.includes(holdId)) return false
  await runs.commit(taskId, task, (_now, run) => ({
    type: 'lift',
    holdId,
    actor: { kind: 'operator', id: principal },
    ...(run === undefined ? {} : { run }),
  }))
  return true
}

/**
 * Lifts holds that are no longer in effect from tasks that still have them: a process died while it
 * lifted such a hold, or the hold was never stored.
 */
export async function liftStaleHolds(
  context: Context,
  isActive: (holdId: string) => Promise<boolean>,
): Promise<void> {
  for await (const taskIds of tasksIn(context, { all: true }, 'held')) {
    for (const taskId of taskIds) {
      const holds = (await context.ledger.read(taskId))?.holds ?? []
      for (const holdId of holds) {
        if (!(await isActive(holdId))) await liftTask(context, holdId, taskId, 'lull')
      }
    }
  }
}

/**
 * Yields pages of task ids: every open (or held) task in the scope that exists at the time of the
 * call (H2).
 */
async function* tasksIn(
  context: Pick<Context, 'store' | 'places'>,
  scope: HoldScope,
  which: 'open' | 'held' = 'open',
): AsyncGenerator<readonly string[]> {
  if ('taskIds' in scope) {
    yield [...new Set(scope.taskIds)]
    return
  }
  for await (const rows of pagesIn(context, scope, which)) {
    for (const { id, tenant } of rows) context.places.learn(id, tenant)
    yield rows.map(({ id }) => id)
  }
}

/** The rows of the open tasks in scope, page by page. */
export async function* openRowsIn(
  { store }: Pick<Context, 'store'>,
  scope: HoldScope,
): AsyncGenerator<readonly TaskRow[]> {
  if (!('taskIds' in scope)) {
    yield* pagesIn({ store }, scope, 'open')
    return
  }
  const rows = await Promise.all(
    [...new Set(scope.taskIds)].map(async (id) => {
      const tenant = scope.tenant ?? (await store.tenantOf(id))
      return tenant === undefined ? undefined : store.row(tenant, id)
    }),
  )
  yield rows
    .filter((row) => row !== undefined)
    .filter((row) => !isTerminal(row.state) && isCovered(scope, { ...row, taskId: row.id }))
}

async function* pagesIn(
  { store }: Pick<Context, 'store'>,
  scope: HoldScope,
  which: 'open' | 'held',
): AsyncGenerator<readonly TaskRow[]> {
  const held = which === 'held' ? { held: true as const } : {}
  const query = { ...queryOf(scope), limit: PAGE, ...held }
  let after: OpenTaskQuery['after']
  for (;;) {
    const page = await store.openTasks(after === undefined ? query : { ...query, after })
    yield page.filter((row) => isCovered(scope, { ...row, taskId: row.id }))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = { tenant: last.tenant, contextId: last.contextId, id: last.id }
  }
}
