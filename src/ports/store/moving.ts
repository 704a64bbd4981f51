/**
 * What is copied when everything moves from one store to another. Values keep their stored form:
 * text is escaped (`text.ts`), and bodies stay unparsed JSON text, because receipts sign their
 * exact content.
 */
import type { TaskRow } from './tasks.ts'

/** The records of one commit. */
export interface MovedCommit {
  /** The number of the commit's last record. */
  readonly last: number
  readonly body: string
}

/** Everything stored about one task. */
export interface MovedTask {
  readonly row: TaskRow
  /** Oldest first. */
  readonly log: readonly MovedCommit[]
  readonly snapshot?: { readonly seq: number; readonly body: string }
  readonly anchor?: string
}

/** The other tables, with the columns in which their rows are passed. */
export const movedTables = {
  audit: ['id', 'at', 'tenant', 'principal', 'task_id', 'body'],
  claims: ['tenant', 'principal', 'agent', 'key', 'task_id', 'digest', 'created_at', 'reply'],
  events: ['pos', 'tenant', 'source', 'event_id', 'type', 'name', 'received_at', 'body'],
  context_messages: ['pos', 'tenant', 'principal', 'context_id', 'at', 'message'],
  holds: ['pos', 'id', 'created_at', 'lifted_at', 'body'],
  key_values: ['name', 'value'],
  policies: ['id', 'version', 'body'],
  pushes: ['tenant', 'task_id', 'id', 'status', 'body'],
  removed_tasks: ['tenant', 'id', 'removed_at', 'body'],
  spending: ['tenant', 'budget_id', 'period', 'amount'],
  sessions: ['tenant', 'principal', 'id', 'updated_at', 'deleted', 'body'],
} as const

export type MovedTable = keyof typeof movedTables
export type MovedRow = readonly (string | number | boolean | null)[]

/** A store that is read by a move. No other process uses it meanwhile. */
export interface MoveSource {
  readonly taskCount: number
  /** At or above the highest position ever given to an event of any tenant. */
  readonly lastEventPos: number
  /** Tasks in a stable order, a page at a time. */
  tasks(): Iterable<readonly MovedTask[]>
  rows(table: MovedTable): Iterable<readonly MovedRow[]>
  value(name: string): string | undefined
  close(): void
}

/** A store that is written by a move. Other processes see nothing of it before the move ends. */
export interface MoveTarget {
  /** The note that an earlier move passed to `finish`, if any. */
  readonly earlier: string | undefined
  addTasks(tasks: readonly MovedTask[]): Promise<void>
  add(table: MovedTable, rows: readonly MovedRow[]): Promise<void>
  /** Reads tasks back, in the order of the ids. Undefined where a task is missing. */
  read(ids: readonly string[]): Promise<readonly (MovedTask | undefined)[]>
  count(table: MovedTable): Promise<number>
  finish(end: MoveEnd): Promise<void>
}

export interface MoveEnd {
  readonly lastEventPos: number
  /** The position up to which events have been offered to all tasks that wait for them. */
  readonly toldUpTo: number
  /** The instant up to which follow-up work is done (`engine/upkeep/follow-ups.ts`). */
  readonly doneUntil: number
  /** Stored, and returned to a later move as `earlier`. */
  readonly note: string
}
