/**
 * The columns of a task. Selections, sent arrays and the reading of rows are derived from this one
 * list, so that columns cannot get out of order. A new field of `TaskRow` does not compile until it
 * is here.
 */
import type { State } from '../../../core/states.ts'
import type { TaskRow } from '../../../ports/store/tasks.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { Row, Value } from '../connection/database.ts'

interface Column<T> {
  /** `t` is the table `tasks`, `a` is the table `agenda`. */
  readonly sql: string
  /** The value to send. Null only for an absent field. */
  send(row: TaskRow): Value
  read(value: unknown): T
}

const text = (sql: string, of: (row: TaskRow) => string): Column<string> => ({
  sql,
  send: (row) => toText(of(row)),
  read: (value) => fromText(String(value)),
})

const optionalText = (
  sql: string,
  of: (row: TaskRow) => string | undefined,
): Column<string | undefined> => ({
  sql,
  send(row) {
    const value = of(row)
    return value === undefined ? null : toText(value)
  },
  read: (value) => (value === null ? undefined : fromText(String(value))),
})

const instant = (sql: string, of: (row: TaskRow) => number): Column<number> => ({
  sql,
  send: of,
  read: Number,
})

const optionalInstant = (
  sql: string,
  of: (row: TaskRow) => number | undefined,
): Column<number | undefined> => ({
  sql,
  send: (row) => of(row) ?? null,
  read: (value) => (value === null ? undefined : Number(value)),
})

/** After the id and the tenant, in the order of the parameters `r_` of the commit function. */
const columns: { readonly [F in keyof Required<TaskRow>]: Column<TaskRow[F]> } = {
  id: text('t.id', (row) => row.id),
  tenant: text('t.tenant', (row) => row.tenant),
  principal: text('t.principal', (row) => row.principal),
  agent: text('t.agent', (row) => row.agent),
  contextId: text('t.context_id', (row) => row.contextId),
  parentId: optionalText('t.parent_id', (row) => row.parentId),
  createdAt: instant('t.created_at', (row) => row.createdAt),
  state: { sql: 't.state', send: (row) => row.state, read: (value) => value as State },
  statusAt: instant('t.status_at', (row) => row.statusAt),
  held: { sql: 't.held', send: (row) => row.held, read: (value) => value === true },
  waits: {
    sql: 't.waits',
    send: (row) => arrayLiteral(row.waits.map(toText)),
    read: (value) => (value as readonly string[]).map(fromText),
  },
  readyAt: optionalInstant('a.ready_at', (row) => row.readyAt),
  dueAt: optionalInstant('a.due_at', (row) => row.dueAt),
  owner: optionalText('a.owner', (row) => row.owner),
}

const fields = Object.keys(columns) as readonly (keyof TaskRow)[]

/** The columns and tables from which rows of tasks are read. */
export const selectedColumns: string = fields.map((field) => columns[field].sql).join(', ')
export const tasksIn = (schema: string): string =>
  `${schema}.tasks t LEFT JOIN ${schema}.agenda a ON a.tenant = t.tenant AND a.task_id = t.id`

export function toTaskRow(row: Row): TaskRow {
  const read = fields.map((field) => {
    const { sql, read: readColumn } = columns[field]
    return [field, readColumn(row[sql.slice('t.'.length)] ?? null)]
  })
  return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as TaskRow
}

/** The values of a row as they are sent, without the id and the tenant. */
export type SentRow = readonly Value[]

const sent = fields.filter((field) => field !== 'id' && field !== 'tenant')

export function sendRow(row: TaskRow): SentRow {
  return sent.map((field) => columns[field].send(row))
}

/**
 * One array per column, with null for a commit without a row. Empty arrays when no commit has a
 * row.
 */
export function columnsOf(rows: readonly (SentRow | undefined)[]): readonly (readonly Value[])[] {
  const none = rows.every((row) => row === undefined)
  return sent.map((_, n) => (none ? [] : rows.map((row) => row?.[n] ?? null)))
}

/**
 * The text of a PostgreSQL array. Arrays of different lengths cannot be elements of one array, but
 * their texts can.
 */
export function arrayLiteral(elements: readonly string[]): string {
  return `{${elements.map((element) => `"${element.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`
}
