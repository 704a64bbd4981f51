/** What a rule would have stopped in the last day, by the events and tasks that are stored. Nothing is written. */
import { firesOn, type Rule } from '../../core/budgets/rule.ts'
import type { StoredEvent } from '../../core/cloud-event.ts'
import { isTerminal, states } from '../../core/states.ts'
import type { TaskQuery, TaskRow } from '../../ports/store/tasks.ts'
import { ALL_TENANTS } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import { openRowsIn } from '../holds/held-tasks.ts'
import { isCovered, queryOf } from '../holds/hold-scope.ts'
import type { BudgetChecks } from './check-budgets.ts'

export interface Firing {
  /** The id of the event or of the budget. */
  readonly cause: string
  /** The type of the event. Absent for a budget. */
  readonly type?: string
  readonly at: number
  /** How many tasks it would have stopped. */
  readonly tasks: number
}

export interface DryRun {
  /** From this instant on. */
  readonly since: number
  /** How often the rule would have fired. */
  readonly fired: number
  /** The first of them, oldest first. */
  readonly firings: readonly Firing[]
  /** How many different tasks it would have stopped. */
  readonly tasks: number
  /** The ids of some of them. */
  readonly sample: readonly string[]
}

type Fired = Omit<Firing, 'tasks'>

const DAY_MS = 86_400_000
const PAGE = 256
const LISTED = 100
const SAMPLE = 10

export async function dryRunOf(
  context: EngineContext,
  checks: Pick<BudgetChecks, 'figures'>,
  rule: Rule,
): Promise<DryRun> {
  const now = context.clock.now()
  const since = now - DAY_MS
  const fired =
    'budget' in rule.when
      ? await firedNow(context, checks, rule.when.budget, now)
      : await firedSince(context, rule, since)
  const rows = fired.length === 0 ? [] : await rowsSince(context, rule, since)
  const stopped = new Set<string>()
  const firings = fired.map((one) => {
    const tasks = rows.filter((row) => wasOpen(row, one.at))
    for (const { id } of tasks) stopped.add(id)
    return { ...one, tasks: tasks.length }
  })
  return {
    since,
    fired: fired.length,
    firings: firings.slice(0, LISTED),
    tasks: stopped.size,
    sample: [...stopped].slice(0, SAMPLE),
  }
}

/** Earlier figures of a budget are not kept, so it is looked at as it is now. */
async function firedNow(
  { store }: EngineContext,
  checks: Pick<BudgetChecks, 'figures'>,
  { id, percent }: { readonly id: string; readonly percent: number },
  now: number,
): Promise<readonly Fired[]> {
  const budgets = (await store.policies()).filter((one) => one.kind === 'budget')
  const judged = await checks.figures(budgets.filter((one) => one.id === id))
  return judged
    .filter(({ figures }) => figures.percent >= percent)
    .map(() => ({ cause: id, at: now }))
}

async function firedSince(
  { store }: EngineContext,
  rule: Rule,
  since: number,
): Promise<readonly Fired[]> {
  const fired: Fired[] = []
  const tenant = rule.tenant === ALL_TENANTS ? undefined : rule.tenant
  const fires = ({ event, receivedAt, tenant: of }: StoredEvent): boolean =>
    receivedAt >= since && firesOn(rule, event, of)
  for (let after = 0; ; ) {
    const page = await store.events(tenant, after, PAGE)
    for (const one of page.filter(fires)) {
      fired.push({ cause: one.event.id, type: one.event.type, at: one.receivedAt })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return fired
    after = last.pos
  }
}

/** The tasks in scope that were open at any instant since then. */
async function rowsSince(
  { store }: EngineContext,
  { scope }: Rule,
  since: number,
): Promise<readonly TaskRow[]> {
  const rows: TaskRow[] = []
  for await (const page of openRowsIn({ store }, scope)) rows.push(...page)
  const query = {
    ...queryOf(scope),
    states: states.filter(isTerminal),
    statusAtFrom: since,
    limit: PAGE,
  }
  let before: TaskQuery['before']
  for (;;) {
    const page = await store.list(before === undefined ? query : { ...query, before })
    rows.push(...page.filter((row) => isCovered(scope, { ...row, taskId: row.id })))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return rows
    before = { statusAt: last.statusAt, id: last.id }
  }
}

function wasOpen({ state, createdAt, statusAt }: TaskRow, at: number): boolean {
  return createdAt <= at && (!isTerminal(state) || statusAt > at)
}
