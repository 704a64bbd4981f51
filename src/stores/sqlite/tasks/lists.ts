/**
 * Lists and counts tasks, and lists the open tasks by context. A list is read one state at a time, each from an index in the order of
 * the list, and the pages are merged. So the newest ten tasks of one state cost ten rows. Queries
 * name their index, because without statistics SQLite may choose another one and sort a million
 * rows.
 */

import { isTerminal, type State, states } from '../../../core/states.ts'
import {
  type ByFilter,
  narrowedBy,
  type TaskFilter,
  type TaskQuery,
} from '../../../ports/store/tasks.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { Direct } from '../../../ports/store.ts'
import type { Database, Statement, Value } from '../files/driver.ts'
import type { Counts } from './counts.ts'
import { toTaskRow } from './task-columns.ts'

interface Condition {
  readonly sql: string
  readonly values: readonly Value[]
}

/** Limits the cache of prepared statements, because callers choose the shape of a query. */
const KEPT_STATEMENTS = 64

const NEWEST_FIRST = 'ORDER BY status_at DESC, id DESC'

export function createLists(
  db: Database,
  counts: Counts,
): Direct<'row' | 'tenantOf' | 'tenants' | 'list' | 'count' | 'openTasks'> {
  const prepared = new Map<string, Statement>()
  const byId = db.prepare('SELECT * FROM tasks WHERE id = ? AND tenant = ?')
  const tenantOf = db.prepare('SELECT tenant FROM tasks WHERE id = ?')
  const tenants = db.prepare(
    'SELECT DISTINCT tenant FROM usage WHERE tenant > ? ORDER BY tenant LIMIT ?',
  )

  function prepare(sql: string): Statement {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const statement = db.prepare(sql)
    const [oldest] = prepared.keys()
    if (prepared.size >= KEPT_STATEMENTS && oldest !== undefined) prepared.delete(oldest)
    prepared.set(sql, statement)
    return statement
  }

  return {
    row(tenant, taskId) {
      const row = byId.get(toText(taskId), toText(tenant))
      return row && toTaskRow(row)
    },
    tenantOf(taskId) {
      const row = tenantOf.get(toText(taskId))
      return row && fromText(String(row['tenant']))
    },
    tenants: (after, limit) =>
      tenants.all(toText(after), limit).map((row) => fromText(String(row['tenant']))),
    list(query) {
      const pages = sourcesFor(query).flatMap((source) => pagesOf(source, query))
      const values = pages.flatMap((page) => [...valuesOf(page.conditions), query.limit])
      const [first, second] = pages
      if (first === undefined) return []
      const rows =
        second === undefined
          ? prepare(pageOf(first)).all(...values)
          : prepare(mergeOf(pages)).all(...values, query.limit)
      return rows.map(toTaskRow)
    },

    count(query) {
      const total = counts.total(query)
      if (total !== undefined) return total
      const shared = narrowedBy(narrowing, query)
      let n = 0
      for (const source of sourcesFor(query)) {
        const conditions = [...shared, ...source.conditions]
        const from = conditions.length === 0 ? 'tasks' : source.from
        const sql = `SELECT count(*) AS n FROM ${from} ${whereOf(conditions)}`
        n += Number(prepare(sql).get(...valuesOf(conditions))?.['n'] ?? 0)
      }
      return n
    },
    openTasks({ contextId, after, held, limit, ...filter }) {
      const afterId = toText(after?.id ?? '')
      const conditions = [
        // One context after the cursor, or everything after the cursor.
        contextId === undefined
          ? where('(context_id, id) > (?, ?)', toText(after?.contextId ?? ''), afterId)
          : where('context_id = ? AND id > ?', toText(contextId), afterId),
        where(held ? 'held = 1' : NOT_ENDED),
        where(OPEN),
        ...narrowedBy(narrowing, filter),
      ]
      const index = held ? 'tasks_held_by_context' : 'tasks_open'
      const sql = `SELECT * FROM tasks INDEXED BY ${index} ${whereOf(conditions)}
        ORDER BY context_id, id LIMIT ?`
      return prepare(sql)
        .all(...valuesOf(conditions), limit)
        .map(toTaskRow)
    },
  }
}

interface Page {
  readonly from: string
  readonly conditions: readonly Condition[]
}

/** An index to read, and the conditions that this index needs beside those of the query. */
interface Source extends Page {
  /**
   * Whether the index has list order only within each state. Other indexes have few rows per query,
   * or list order across states.
   */
  readonly byState: boolean
}

/** The id of a context's first task is derived from the context id. Only later tasks are indexed (`0001-initial.sql`). */
const firstTaskId = (contextId: string): string =>
  `substr(${contextId}, 1, 14) || '7' || substr(${contextId}, 16)`

function sourcesFor(query: TaskFilter): readonly Source[] {
  const by = (name: string, byState: boolean, ...conditions: readonly Condition[]): Source => ({
    from: `tasks INDEXED BY ${name}`,
    conditions,
    byState,
  })
  if (query.parentId !== undefined) return [by('tasks_by_parent', false)]
  if (query.contextId !== undefined) {
    const id = toText(query.contextId)
    return [
      by('tasks_by_context', false, where(`id <> ${firstTaskId('context_id')}`)),
      by('sqlite_autoindex_tasks_1', false, where(`id = ${firstTaskId('?')}`, id, id)),
    ]
  }
  if (query.tenant !== undefined && query.principal !== undefined) {
    return [by('tasks_by_principal', true)]
  }
  if (query.held === true) return [by('tasks_held', false)]
  return [by('tasks_by_state', true)]
}

function pageOf({ from, conditions }: Page, columns = '*'): string {
  return `SELECT ${columns} FROM ${from} ${whereOf(conditions)} ${NEWEST_FIRST} LIMIT ?`
}

/** Merges the keys of the pages first, and then reads only the rows of the merged page. */
function mergeOf(pages: readonly Page[]): string {
  const places = pages.map((page) => `SELECT * FROM (${pageOf(page, 'num, status_at, id')})`)
  return `SELECT tasks.* FROM (${places.join(' UNION ALL ')} ${NEWEST_FIRST} LIMIT ?) AS page
    JOIN tasks ON tasks.num = page.num ORDER BY page.status_at DESC, page.id DESC`
}

function pagesOf({ from, conditions, byState }: Source, query: TaskQuery): readonly Page[] {
  const shared = [...conditionsOf(query), ...cursorOf(query), ...conditions]
  const page = (...more: readonly Condition[]): Page => ({ from, conditions: [...shared, ...more] })
  if (query.states?.length === 0) return []
  if (!byState) return [query.states === undefined ? page() : page(anyOf(query.states))]
  return [...new Set(query.states ?? states)].map((state) => page(where('state = ?', state)))
}

function conditionsOf(filter: TaskFilter): readonly Condition[] {
  // The states choose the pages, or are added beside these conditions.
  const { states: _, ...narrower } = filter
  return narrowedBy(narrowing, narrower)
}

const equal =
  (column: string) =>
  (wanted: string): Condition =>
    where(`${column} = ?`, toText(wanted))

const narrowing: ByFilter<Condition> = {
  tenant: equal('tenant'),
  principal: equal('principal'),
  agent: equal('agent'),
  contextId: equal('context_id'),
  parentId: equal('parent_id'),
  // A literal, because SQLite does not use a partial index for a bound parameter.
  held: (wanted) => where(`held = ${wanted ? 1 : 0}`),
  statusAtFrom: (from) => where('status_at >= ?', from),
  states: anyOf,
}

function cursorOf({ before }: TaskQuery): readonly Condition[] {
  if (before === undefined) return []
  return [where('(status_at, id) < (?, ?)', before.statusAt, toText(before.id))]
}

function anyOf(wanted: readonly State[]): Condition {
  return where(`state IN (${wanted.map(() => '?').join(', ')})`, ...wanted)
}

function where(sql: string, ...values: readonly Value[]): Condition {
  return { sql, values }
}

function whereOf(conditions: readonly Condition[]): string {
  if (conditions.length === 0) return ''
  return `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`
}

function valuesOf(conditions: readonly Condition[]): readonly Value[] {
  return conditions.flatMap(({ values }) => values)
}

/** The condition of the index `tasks_open`. SQLite uses the index only for the same text. */
const NOT_ENDED = "state NOT IN ('completed', 'failed', 'canceled', 'rejected')"
/** Derived from the table of states, so that a state added later is classified correctly. */
const OPEN = `state IN (${states
  .filter((state) => !isTerminal(state))
  .map((state) => `'${state}'`)
  .join(', ')})`

/** SQL that tests whether a context has a task that has not ended, given three columns. */
export function hasOpenTask(tenant: string, principal: string, contextId: string): string {
  return `EXISTS (SELECT 1 FROM tasks AS other INDEXED BY tasks_open
    WHERE other.context_id = ${contextId} AND other.tenant = ${tenant}
      AND other.principal = ${principal} AND other.${NOT_ENDED})`
}
