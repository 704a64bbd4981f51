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
import { toText } from '../../../ports/store/text.ts'
import type { Store } from '../../../ports/store.ts'
import type { Database, Value } from '../connection/database.ts'
import { selectedColumns, tasksIn, toTaskRow } from './rows.ts'

type Lists = Pick<Store, 'row' | 'list' | 'count' | 'openTasks'>

const NEWEST_FIRST = 'ORDER BY t.status_at DESC, t.id DESC'
/** The same text as in the index `tasks_open`, which lets PostgreSQL use that index. */
const NOT_ENDED = "t.state NOT IN ('completed', 'failed', 'canceled', 'rejected')"
/** Derived from the table of states, so that a state added later is classified correctly. */
const OPEN = `t.state IN (${states
  .filter((state) => !isTerminal(state))
  .map((state) => `'${state}'`)
  .join(', ')})`

export function createLists(db: Database): Lists {
  const s = db.schema
  const from = `SELECT ${selectedColumns} FROM ${tasksIn(s)}`

  return {
    async row(taskId) {
      const [row] = await db.read(`${from} WHERE t.id = $1`, [toText(taskId)])
      return row && toTaskRow(row)
    },
    async list(query) {
      if (query.states?.length === 0) return []
      const bind = binder()
      const conditions = [...conditionsOf(query, bind), ...cursorOf(query, bind)]
      const limit = bind.value(query.limit)
      const pages = pagesOf(query, bind).map((state) => {
        const where = whereOf([...conditions, ...state])
        return `(SELECT t.* FROM ${s}.tasks t ${where} ${NEWEST_FIRST} LIMIT ${limit})`
      })
      // Only the rows of the merged page are joined with the other columns.
      const merged = `SELECT t.* FROM (${pages.join(' UNION ALL ')}) AS t ${NEWEST_FIRST} LIMIT ${limit}`
      const sql = `SELECT ${selectedColumns} FROM (${merged}) AS t
        LEFT JOIN ${s}.agenda a ON a.task_id = t.id ${NEWEST_FIRST}`
      return (await db.read(sql, bind.values)).map(toTaskRow)
    },
    async count(query) {
      const bind = binder()
      const kept = keptCountOf(s, query, bind)
      if (kept !== undefined) {
        const [row] = await db.read(kept, bind.values)
        return Number(row?.['n'])
      }
      const conditions = narrowedBy(narrowing(bind), query)
      const sql = `SELECT count(*) AS n FROM ${s}.tasks t ${whereOf(conditions)}`
      const [row] = await db.read(sql, bind.values)
      return Number(row?.['n'])
    },
    async openTasks({ held, after, limit, ...filter }: OpenTaskQuery) {
      const bind = binder()
      const place = after && [after.contextId, after.id].map((text) => bind.value(toText(text)))
      const conditions = [
        held ? 't.held' : NOT_ENDED,
        OPEN,
        ...conditionsOf(filter, bind),
        ...(place ? [`(t.context_id, t.id) > (${place.join(', ')})`] : []),
      ]
      const sql = `${from} ${whereOf(conditions)} ORDER BY t.context_id, t.id LIMIT ${bind.value(limit)}`
      return (await db.read(sql, bind.values)).map(toTaskRow)
    },
  }
}

/**
 * Builds a query of the counts that triggers maintain. Undefined when the filter is narrower than
 * those counts.
 */
function keptCountOf(s: string, query: TaskFilter, bind: Binder): string | undefined {
  const { tenant, principal, agent: _, states: __, ...narrower } = query
  if (Object.values(narrower).some((value) => value !== undefined)) return undefined
  // A principal is unique only within its tenant.
  if (principal !== undefined && tenant === undefined) return undefined
  const conditions = narrowedBy(narrowing(bind), query)
  const folded = principal === undefined ? 'tenant_tasks' : 'principal_tasks'
  const [first, second] = [folded, 'task_moves'].map(
    (table) => `SELECT t.tasks FROM ${s}.${table} t ${whereOf(conditions)}`,
  )
  return `SELECT coalesce(sum(tasks), 0) AS n FROM (${first} UNION ALL ${second}) AS counted`
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
    return [query.states ? [`t.state = ANY (${bind.value(query.states)})`] : []]
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
