/**
 * Stops tasks whose budget is used up, and warns their agents before that.
 *
 * K1  A run checks budgets before every operation with an effect, and after every usage report. So
 *     a task exceeds a budget at most by its operations in flight, whichever process used the
 *     budget up.
 * K2  A task is stopped once for a budget that is used up, however many of its operations check it.
 * K3  A task gets each warning once. The id of the reminder is derived from the budget, the period,
 *     the allowed amount and the percentage.
 * K4  A task that is stopped while its budget is being refilled continues: the budget is checked
 *     again when the stop is durable.
 * K5  If no budget covers a task, nothing is read and nothing is awaited.
 */
import {
  type Budget,
  type BudgetFigures,
  describeBudget,
  describeFigures,
  type FiguresReader,
  figuresOf,
} from '../../core/budgets/budget.ts'
import { isLullError, LullError } from '../../core/errors.ts'
import type { Task } from '../../core/task.ts'
import { toIso } from '../../core/values/instant.ts'
import { type EngineContext, mintHandle } from '../context.ts'
import { toReminder } from '../requests/remind/reminders.ts'
import type { Policies } from './policies.ts'
import { resumeStopped } from './resume-stopped.ts'

export interface BudgetChecks {
  /** Stops the task if a budget is used up. Returns undefined if no budget covers it. */
  check(task: Task): Promise<void> | undefined
  /** @throws LullError `BUDGET_EXCEEDED` when a budget that covers the task is used up */
  admitResume(task: Task): Promise<void> | undefined
  readonly figures: (budgets: readonly Budget[]) => Promise<readonly Judged[]>
}

export interface Judged {
  readonly budget: Budget
  readonly figures: BudgetFigures
}

/** @param fired called with the result for every budget that was checked */
export function createBudgetChecks(
  context: EngineContext,
  policies: Pick<Policies, 'covering' | 'budgets'>,
  fired: (judged: readonly Judged[]) => Promise<void>,
): BudgetChecks {
  async function figures(budgets: readonly Budget[]): Promise<readonly Judged[]> {
    const { store, clock } = context
    const counts = await store.spent(
      budgets.map(({ id, scope }) => ({
        id,
        tenant: 'tenant' in scope ? scope.tenant : undefined,
      })),
    )
    const byId = new Map(counts.map((one) => [one.budgetId, one]))
    const now = clock.now()
    return budgets.map((budget) => ({
      budget,
      figures: figuresOf(budget, byId.get(budget.id), now),
    }))
  }

  async function checkAll(task: Task, budgets: readonly Budget[]): Promise<void> {
    const judged = await figures(budgets)
    const [worst] = judged.filter((one) => one.figures.usedUp).sort(longestFirst)
    if (worst !== undefined) await stop(task, worst)
    else for (const one of judged) await warn(context, task, one)
    await fired(judged)
  }

  async function stop(task: Task, { budget, figures: used }: Judged): Promise<void> {
    const taskId = task.id
    const handle = mintHandle(context.ids)
    const { nextPeriodAt } = used
    const until =
      nextPeriodAt === undefined
        ? {}
        : { conditions: { trigger: { at: toIso(nextPeriodAt) } }, fireAt: nextPeriodAt }
    const { records } = await context.runs.commitStop(taskId, 'finish_step', (_, atBoundary) => ({
      type: 'budget-pause',
      handle,
      budgetId: budget.id,
      reason: `budget used up: ${describeFigures(budget, used, readerOf(context, task))}`,
      ...until,
      atBoundary,
    }))
    if (records.length > 0 && !(await isUsedUp(budget))) {
      await resumeStopped(context, taskId, budget.id)
    }
  }

  /** Looks at the budget again, as it is now (K4). */
  async function isUsedUp({ id }: Budget): Promise<boolean> {
    const budget = policies.budgets().find((one) => one.id === id)
    if (budget === undefined) return false
    const [now] = await figures([budget])
    return now?.figures.usedUp ?? false
  }

  return {
    check(task) {
      if (task.state !== 'working' || task.pausing !== undefined) return undefined
      const covering = policies.covering(task)
      return covering.length === 0 ? undefined : checkAll(task, covering)
    },
    admitResume(task) {
      const covering = policies.covering(task)
      if (covering.length === 0) return undefined
      return figures(covering).then((judged) => {
        const [worst] = judged.filter((one) => one.figures.usedUp).sort(longestFirst)
        if (worst === undefined) return
        const { budget, figures: used } = worst
        throw new LullError('BUDGET_EXCEEDED', {
          taskId: task.id,
          budgetId: budget.id,
          figures: describeFigures(budget, used, readerOf(context, task)),
        })
      })
    },
    figures,
  }
}

/**
 * Sorts the budget that stays used up longest first: a task that waits for a shorter one would stop
 * again.
 */
function longestFirst(a: Judged, b: Judged): number {
  const end = ({ figures }: Judged): number => figures.nextPeriodAt ?? Number.MAX_SAFE_INTEGER
  return end(b) - end(a)
}

function readerOf({ options }: EngineContext, { id, tenant }: Task): FiguresReader {
  return { taskId: id, tenant, ofAllTenants: options.figuresOfAllTenants }
}

async function warn(
  context: EngineContext,
  task: Task,
  { budget, figures }: Judged,
): Promise<void> {
  const { ledger, clock, agents, options, log } = context
  const { warning, allowed, period } = figures
  if (warning === undefined || agents.get(task.agent)?.reminders === false) return
  const id = `${budget.id}-${period}-${allowed}-${warning}`
  if (task.reminded.some((known) => known.id === id)) return
  const limit = options.pendingReminders
  // The warning is tried again when there is room for a reminder.
  if (task.reminders.length >= limit) return
  const body = `${warning} percent of a budget are used: ${describeBudget(budget, allowed, readerOf(context, task))}. The task is stopped when it is used up.`
  const given = { id, body, ttlTurns: 1, propagate: 'none', source: 'budget' } as const
  const reminder = toReminder({ ...given, dedupeKey: budget.id }, id, clock.now())
  try {
    await ledger.commit(task.id, { type: 'remind', reminder, limit })
  } catch (error) {
    if (isLullError(error, 'STORE_UNAVAILABLE')) throw error
    log('warn', 'a warning of a budget was refused', { taskId: task.id, budget: budget.id, error })
  }
}
