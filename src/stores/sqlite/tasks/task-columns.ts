/**
 * The columns of the table `tasks`. Statements, bound values and the reading of rows are derived
 * from this one list, so that columns cannot get out of order. A new field of `TaskRow` does not
 * compile until it is here.
 */
import type { State } from '../../../core/states.ts'
import type { TaskRow } from '../../../ports/store/tasks.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { Row, Value } from '../files/driver.ts'
import { namesIn } from './waits.ts'

interface Column<T> {
  readonly name: string
  /** Whether the value may change after the task was created. */
  readonly changes: boolean
  bind(row: TaskRow): Value
  read(value: Value): T
}

type Field = Exclude<keyof TaskRow, never>
/** Every field is present. An optional field may be undefined. */
type Fields = { readonly [F in Field]: TaskRow[F] }

const text = (name: string, of: (row: TaskRow) => string): Column<string> => ({
  name,
  changes: false,
  bind: (row) => toText(of(row)),
  read: (value) => fromText(String(value)),
})

const optionalText = (
  name: string,
  changes: boolean,
  of: (row: TaskRow) => string | undefined,
): Column<string | undefined> => ({
  name,
  changes,
  bind(row) {
    const value = of(row)
    return value === undefined ? null : toText(value)
  },
  read: (value) => (value === null ? undefined : fromText(String(value))),
})

const optionalInstant = (
  name: string,
  of: (row: TaskRow) => number | undefined,
): Column<number | undefined> => ({
  name,
  changes: true,
  bind: (row) => of(row) ?? null,
  read: (value) => (value === null ? undefined : Number(value)),
})

const columns: { readonly [F in keyof Fields]: Column<Fields[F]> } = {
  id: text('id', (row) => row.id),
  tenant: text('tenant', (row) => row.tenant),
  principal: text('principal', (row) => row.principal),
  agent: text('agent', (row) => row.agent),
  contextId: text('context_id', (row) => row.contextId),
  parentId: optionalText('parent_id', false, (row) => row.parentId),
  createdAt: {
    name: 'created_at',
    changes: false,
    bind: (row) => row.createdAt,
    read: Number,
  },
  state: {
    name: 'state',
    changes: true,
    bind: (row) => row.state,
    read: (value) => value as State,
  },
  statusAt: { name: 'status_at', changes: true, bind: (row) => row.statusAt, read: Number },
  readyAt: optionalInstant('ready_at', (row) => row.readyAt),
  owner: optionalText('owner', true, (row) => row.owner),
  dueAt: optionalInstant('due_at', (row) => row.dueAt),
  held: {
    name: 'held',
    changes: true,
    bind: (row) => (row.held ? 1 : 0),
    read: (value) => value === 1,
  },
  waits: {
    name: 'waits',
    changes: true,
    bind: (row) => (row.waits.length === 0 ? null : JSON.stringify(row.waits)),
    read: (value) => namesIn(value === null ? null : String(value)),
  },
}

const fields = Object.keys(columns) as readonly Field[]
const changing = fields.filter((field) => columns[field].changes)
const positionOf = new Map(fields.map((field, position) => [field, position]))

/** A row as bound values, in the order of the columns. */
export type BoundRow = readonly Value[]

export function bindRow(row: TaskRow): BoundRow {
  return fields.map((field) => columns[field].bind(row))
}

/** A value as it is bound: text is escaped, lists are JSON. */
export function boundValue(row: BoundRow, field: Field): Value {
  return row[positionOf.get(field) ?? -1] ?? null
}

export function readField<F extends Field>(row: BoundRow, field: F): Fields[F] {
  return columns[field].read(boundValue(row, field))
}

export function toTaskRow(row: Row): TaskRow {
  const read = fields.map((field) => [field, columns[field].read(row[columns[field].name] ?? null)])
  return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as TaskRow
}

/** Bound values: the number of the task, then the row. */
export const insertTask: string = `INSERT INTO tasks (num, ${fields.map((field) => columns[field].name).join(', ')})
  VALUES (?, ${fields.map(() => '?').join(', ')})`

/** Bound values: `changesOf` the row, then the number of the task. */
export const updateTask: string = `UPDATE tasks SET ${changing.map((field) => `${columns[field].name} = ?`).join(', ')}
  WHERE num = ?`

export function changesOf(row: BoundRow): readonly Value[] {
  return changing.map((field) => boundValue(row, field))
}
