/**
 * Computes what a rule would have stopped in the last day, from stored events and tasks. Nothing is
 * written.
 * The number of events and tasks is bounded, and their sorted times are compared, not each event
 * with each task.
 */
import { firesOn, type Rule } from '../../core/budgets/rule.ts'
import { isTerminal, states } from '../../core/states.ts'
import type { StoredEvent } from '../../core/waiting/cloud-event.ts'
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
  /** The beginning of the period. */
  readonly since: number
  /** How often the rule would have fired. */
  readonly fired: number
  /** The first firings, oldest first. */
  readonly firings: readonly Firing[]
  /** How many different tasks it would have stopped. */
  readonly tasks: number
  /** The ids of some of them. */
  readonly sample: readonly string[]
  /**
   * Set when there are more events or tasks than were looked at, so that the numbers are too low.
   */
  readonly truncated: boolean
}

/** The first of many items, and whether there are more. */
interface Some<T> {
  readonly found: readonly T[]
  readonly truncated: boolean
}

type Fired = Omit<Firing, 'tasks'>

const DAY_MS = 86_400_000
const PAGE = 256
const LISTED = 100
const SAMPLE = 10
/** The most events, and the most tasks, that a dry run looks at. */
const MOST = 10_000

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
  const rows = fired.found.length === 0 ? nothing : await rowsSince(context, rule, since)
  const openAt = openCounter(rows.found)
  const instants = fired.found.map(({ at }) => at).sort(ascending)
  const stopped = rows.found.filter((row) => {
    const first = instants[countUpTo(instants, row.createdAt - 1)]
    return first !== undefined && first < endOf(row)
  })
  return {
    since,
    fired: fired.found.length,
    firings: fired.found.slice(0, LISTED).map((one) => ({ ...one, tasks: openAt(one.at) })),
    tasks: stopped.length,
    sample: stopped.slice(0, SAMPLE).map(({ id }) => id),
    truncated: fired.truncated || rows.truncated,
  }
}

const nothing: Some<never> = { found: [], truncated: false }

/** Earlier figures of a budget are not stored, so only its current figures are used. */
async function firedNow(
  { store }: EngineContext,
  checks: Pick<BudgetChecks, 'figures'>,
  { id, percent }: { readonly id: string; readonly percent: number },
  now: number,
): Promise<Some<Fired>> {
  const budgets = (await store.policies()).filter((one) => one.kind === 'budget')
  const judged = await checks.figures(budgets.filter((one) => one.id === id))
  const found = judged
    .filter(({ figures }) => figures.percent >= percent)
    .map(() => ({ cause: id, at: now }))
  return { found, truncated: false }
}

async function firedSince(
  { store }: EngineContext,
  rule: Rule,
  since: number,
): Promise<Some<Fired>> {
  const found: Fired[] = []
  let looked = 0
  for await (const tenant of tenantsOf(store, rule)) {
    let after = await lastBefore(store, tenant, since)
    for (;;) {
      if (looked >= MOST) return { found, truncated: true }
      const page = await store.events(tenant, after, PAGE)
      looked += page.length
      for (const { event, receivedAt } of page) {
        if (receivedAt < since || !firesOn(rule, event, tenant)) continue
        found.push({ cause: event.id, type: event.type, at: receivedAt })
      }
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) break
      after = last.pos
    }
  }
  return { found: found.sort((a, b) => a.at - b.at), truncated: false }
}

/** The tenants whose events can fire the rule. */
async function* tenantsOf(store: EngineContext['store'], { tenant }: Rule): AsyncGenerator<string> {
  if (tenant !== ALL_TENANTS) {
    yield tenant
    return
  }
  for (let after = ''; ; ) {
    const page = await store.tenants(after, PAGE)
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = last
  }
}

/**
 * Finds the event position at which that instant begins, by binary search, because positions grow
 * with time.
 */
async function lastBefore(
  store: EngineContext['store'],
  tenant: string,
  since: number,
): Promise<number> {
  const [{ oldest = 1, last = 0 } = {}] = await store.eventPositions([tenant])
  let [low, high] = [oldest - 1, last]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [next] = await store.events(tenant, middle, 1)
    if (next !== undefined && next.receivedAt < since) low = next.pos
    else high = middle
  }
  return low
}

/** The tasks in the scope that were open at any time since that instant. */
async function rowsSince(
  { store }: EngineContext,
  { scope }: Rule,
  since: number,
): Promise<Some<TaskRow>> {
  const found: TaskRow[] = []
  for await (const page of openRowsIn({ store }, scope)) {
    found.push(...page)
    if (found.length >= MOST) return { found, truncated: true }
  }
  const query = {
    ...queryOf(scope),
    states: states.filter(isTerminal),
    statusAtFrom: since,
    limit: PAGE,
  }
  let before: TaskQuery['before']
  for (let looked = found.length; looked < MOST; looked += PAGE) {
    const page = await store.list(before === undefined ? query : { ...query, before })
    found.push(...page.filter((row) => isCovered(scope, { ...row, taskId: row.id })))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return { found, truncated: false }
    before = { statusAt: last.statusAt, id: last.id }
  }
  return { found, truncated: true }
}

/**
 * Returns a function that counts the tasks open at an instant: created until then, minus ended
 * until then.
 */
function openCounter(rows: readonly TaskRow[]): (at: number) => number {
  const created = rows.map(({ createdAt }) => createdAt).sort(ascending)
  const ended = rows.map(endOf).sort(ascending)
  return (at) => countUpTo(created, at) - countUpTo(ended, at)
}

function endOf({ state, statusAt }: TaskRow): number {
  return isTerminal(state) ? statusAt : Infinity
}

const ascending = (a: number, b: number): number => (a < b ? -1 : a === b ? 0 : 1)

/** The number of sorted numbers that are at most `limit`. */
function countUpTo(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((sorted[middle] ?? Infinity) <= limit) low = middle + 1
    else high = middle
  }
  return low
}
