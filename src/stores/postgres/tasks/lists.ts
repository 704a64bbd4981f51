/**
 * Lists and counts tasks. A list is read one state at a time, each from an index in the order of
 * the list, and the pages are merged. So the newest ten tasks of one state cost ten rows, however
 * many tasks other states have.
 */
import { isTerminal, type State, states } from '../../../core/states.ts'
import {
  type ByFilter,
  narrowedBy,
  type OpenTaskQuery,
  type TaskFilter,
  type TaskQuery,
} from '../../../ports/store/tasks.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { Store } from '../../../ports/store.ts'
import type { Database, Value } from '../connection/database.ts'
import { countColumn } from '../usage.ts'
import { selectedColumns, tasksIn, toTaskRow } from './rows.ts'

type Lists = Pick<Store, 'row' | 'tenantOf' | 'tenants' | 'list' | 'count' | 'openTasks'>

const NEWEST_FIRST = 'ORDER BY t.status_at DESC, t.id DESC'
/** Derived from the table of states, so that a state added later is classified correctly. */
const OPEN = `t.state IN (${states
  .filter((state) => !isTerminal(state))
  .map((state) => `'${state}'`)
  .join(', ')})`

export function createLists(db: Database): Lists {
  const s = db.schema
  const from = `SELECT ${selectedColumns} FROM ${tasksIn(s)}`

  return {
    async row(tenant, taskId) {
      const values = [toText(tenant), toText(taskId)]
      const [row] = await db.read(`${from} WHERE t.tenant = $1 AND t.id = $2`, values)
      return row && toTaskRow(row)
    },
    async tenantOf(taskId) {
      const [row] = await db.read(
        `WITH RECURSIVE ${tenantsIn(s)} SELECT tenant FROM tenants
         WHERE EXISTS (SELECT FROM ${s}.tasks t WHERE t.tenant = tenants.tenant AND t.id = $1) LIMIT 1`,
        [toText(taskId)],
      )
      return row && fromText(String(row['tenant']))
    },
    async tenants(after, limit) {
      const rows = await db.read(
        `WITH RECURSIVE ${tenantsIn(s, '> $1')} SELECT tenant FROM tenants WHERE tenant IS NOT NULL LIMIT $2`,
        [toText(after), limit],
      )
      return rows.map((row) => fromText(String(row['tenant'])))
    },
    async list(query) {
      if (query.states?.length === 0) return []
      const bind = binder()
      const conditions = [...conditionsOf(query, bind), ...cursorOf(query, bind)]
      const limit = bind.value(query.limit)
      const pages = pagesOf(query, bind).map((more) =>
        pageOf(s, query.tenant, [...conditions, ...more], `${NEWEST_FIRST} LIMIT ${limit}`),
      )
      // Only the rows of the merged page are joined with the other columns.
      const merged = `SELECT t.* FROM (${pages.join(' UNION ALL ')}) AS t ${NEWEST_FIRST} LIMIT ${limit}`
      const sql = `${tenantsOf(s, query.tenant)} SELECT ${selectedColumns} FROM (${merged}) AS t
        ${withAgenda(s)} ${NEWEST_FIRST}`
      return (await db.read(sql, bind.values)).map(toTaskRow)
    },
    async count(query) {
      const bind = binder()
      const kept = keptCountOf(s, query, bind)
      if (kept !== undefined) {
        const [row] = await db.read(kept, bind.values)
        return Number(row?.['n'])
      }
      const conditions = conditionsOf(query, bind)
      const wanted = query.states ? [`t.state = ANY (${bind.value(query.states)})`] : []
      const pages = placesOf(query, bind).map((place) =>
        pageOf(s, query.tenant, [...conditions, ...wanted, ...place], ''),
      )
      const sql = `${tenantsOf(s, query.tenant)} SELECT count(*) AS n FROM (${pages.join(' UNION ALL ')}) AS t`
      const [row] = await db.read(sql, bind.values)
      return Number(row?.['n'])
    },
    // Every open task is in the agenda. Its key, tenant and id, never changes.
    async openTasks({ held, after, limit, ...filter }: OpenTaskQuery) {
      const bind = binder()
      const place = after && [after.tenant, after.id].map((text) => bind.value(toText(text)))
      const isNarrow = held === true || filter.contextId !== undefined
      const [key, order] = isNarrow
        ? ['(t.tenant, t.id)', 't.tenant, t.id']
        : ['(a.tenant, a.task_id)', 'a.tenant, a.task_id']
      const conditions = [
        OPEN,
        ...(held ? ['t.held'] : []),
        ...conditionsOf(filter, bind),
        ...(filter.tenant === undefined || isNarrow
          ? []
          : [`a.tenant = ${bind.value(toText(filter.tenant))}`]),
        ...(place ? [`${key} > (${place.join(', ')})`] : []),
      ]
      const count = bind.value(limit)
      if (!isNarrow) {
        const sql = `SELECT ${selectedColumns} FROM ${s}.agenda a
          JOIN ${s}.tasks t ON t.tenant = a.tenant AND t.id = a.task_id
          ${whereOf(conditions)} ORDER BY ${order} LIMIT ${count}`
        return (await db.read(sql, bind.values)).map(toTaskRow)
      }
      const pages = placesOf(filter, bind).map((more) =>
        pageOf(s, filter.tenant, [...conditions, ...more], `ORDER BY ${order} LIMIT ${count}`),
      )
      const sql = `${tenantsOf(s, filter.tenant)} SELECT ${selectedColumns} FROM (${pages.join(' UNION ALL ')}) AS t
        ${withAgenda(s)} ORDER BY ${order} LIMIT ${count}`
      return (await db.read(sql, bind.values)).map(toTaskRow)
    },
  }
}

/**
 * The common table expression `tenants`, with a last row that is NULL. It jumps from one tenant to the
 * next, because reading all rows would read what is stored for each principal.
 */
export function tenantsIn(s: string, first = `>= ''`): string {
  return `tenants (tenant) AS (
    (SELECT u.tenant FROM ${s}.usage u WHERE u.tenant ${first} ORDER BY u.tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT u.tenant FROM ${s}.usage u WHERE u.tenant > tenants.tenant ORDER BY u.tenant LIMIT 1)
    FROM tenants WHERE tenants.tenant IS NOT NULL)`
}

function tenantsOf(s: string, tenant: string | undefined): string {
  return tenant === undefined ? `WITH RECURSIVE ${tenantsIn(s)}` : ''
}

/** Tasks of one tenant, or those of each tenant, in the order of an index and up to a limit. */
function pageOf(
  s: string,
  tenant: string | undefined,
  conditions: readonly string[],
  order: string,
): string {
  if (tenant !== undefined) return `(SELECT t.* FROM ${s}.tasks t ${whereOf(conditions)} ${order})`
  const where = whereOf(['t.tenant = tenants.tenant', ...conditions])
  return `(SELECT t.* FROM tenants CROSS JOIN LATERAL (SELECT t.* FROM ${s}.tasks t ${where} ${order}) AS t ${order})`
}

/**
 * Where the tasks of a context are found: the first one by its id, which is derived from that of the
 * context, and later ones in the index `tasks_by_context`.
 */
function placesOf(
  { contextId }: Pick<TaskFilter, 'contextId'>,
  bind: Binder,
): readonly (readonly string[])[] {
  if (contextId === undefined) return [[]]
  const firstOf = (context: string): string =>
    `substr(${context}, 1, 14) || '7' || substr(${context}, 16)`
  const first = firstOf(`${bind.value(toText(contextId))}::text`)
  return [[`t.id = ${first}`], [`t.id <> ${firstOf('t.context_id')}`]]
}

/** Builds a query of the counts by state. Undefined when the filter is narrower than those counts. */
function keptCountOf(s: string, query: TaskFilter, bind: Binder): string | undefined {
  const { tenant, principal, agent, states: wanted = states, ...narrower } = query
  if (Object.values(narrower).some((value) => value !== undefined)) return undefined
  // A principal is unique only within its tenant.
  if (principal !== undefined && tenant === undefined) return undefined
  const kept = { tenant, principal, agent }
  const given = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
  const conditions = narrowedBy(narrowing(bind), given)
  const sum = ['0', ...new Set(wanted.map(countColumn))].join(' + ')
  return `SELECT coalesce(sum(${sum}), 0) AS n FROM ${s}.usage t ${whereOf(conditions)}`
}

/** Joins the rows of a page with their rows in the agenda, one by one: `LIMIT` keeps the planner from reading it whole. */
function withAgenda(s: string): string {
  return `LEFT JOIN LATERAL (
    SELECT * FROM ${s}.agenda WHERE tenant = t.tenant AND task_id = t.id LIMIT 1) AS a ON true`
}

/** Collects the values of a statement while its text is built. */
interface Binder {
  readonly values: Value[]
  /** Adds the value. Returns its parameter, such as `$1`. */
  value(value: Value): string
}

function binder(): Binder {
  const values: Value[] = []
  return { values, value: (value) => `$${values.push(value)}` }
}

/**
 * Splits the list into pages, one per state. It is not split if another index has few rows for the
 * filter or is already in list order.
 */
function pagesOf(query: TaskQuery, bind: Binder): readonly (readonly string[])[] {
  const { parentId, contextId, tenant, principal, held } = query
  const isOfPrincipal = tenant !== undefined && principal !== undefined
  const isNarrow = parentId !== undefined || contextId !== undefined
  if (isNarrow || (held === true && !isOfPrincipal)) {
    const wanted = query.states ? [`t.state = ANY (${bind.value(query.states)})`] : []
    return placesOf(query, bind).map((place) => [...wanted, ...place])
  }
  const wanted = new Set<State>(query.states ?? states)
  return [...wanted].map((state) => [`t.state = ${bind.value(state)}`])
}

/** The conditions of the filter, without the states, which choose the pages. */
function conditionsOf({ states: _, ...filter }: TaskFilter, bind: Binder): readonly string[] {
  return narrowedBy(narrowing(bind), filter)
}

function narrowing(bind: Binder): ByFilter<string> {
  const equal = (column: string) => (wanted: string) =>
    `t.${column} = ${bind.value(toText(wanted))}`
  return {
    tenant: equal('tenant'),
    principal: equal('principal'),
    agent: equal('agent'),
    contextId: equal('context_id'),
    parentId: equal('parent_id'),
    held: (wanted) => (wanted ? 't.held' : 'NOT t.held'),
    statusAtFrom: (from) => `t.status_at >= ${bind.value(from)}`,
    states: (wanted) => `t.state = ANY (${bind.value(wanted)})`,
  }
}

function cursorOf({ before }: TaskQuery, bind: Binder): readonly string[] {
  if (before === undefined) return []
  const place = [bind.value(before.statusAt), bind.value(toText(before.id))]
  return [`(t.status_at, t.id) < (${place.join(', ')})`]
}

function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}
