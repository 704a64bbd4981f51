/**
 * What one store gives to another when everything moves. Values are as they are stored: text is escaped (`text.ts`), and
 * bodies are JSON text. Bodies are not parsed, because receipts sign what the records say.
 */
import type { TaskRow } from './tasks.ts'

/** The records of one commit. */
export interface MovedCommit {
  /** The number of its last record. */
  readonly last: number
  readonly body: string
}

/** Everything that is stored of one task. */
export interface MovedTask {
  readonly row: TaskRow
  /** Oldest first. */
  readonly log: readonly MovedCommit[]
  readonly snapshot?: { readonly seq: number; readonly body: string }
  readonly anchor?: string
}

/** The tables beside tasks and their logs, with the columns in which their rows are given. */
export const movedTables = {
  audit: ['pos', 'id', 'at', 'tenant', 'principal', 'task_id', 'body'],
  claims: ['tenant', 'principal', 'agent', 'key', 'task_id', 'digest', 'created_at', 'reply'],
  events: ['pos', 'tenant', 'source', 'event_id', 'type', 'name', 'received_at', 'body'],
  context_messages: ['pos', 'tenant', 'principal', 'context_id', 'at', 'message'],
  holds: ['pos', 'id', 'created_at', 'lifted_at', 'body'],
  key_values: ['name', 'value'],
  policies: ['id', 'version', 'body'],
  pushes: ['task_id', 'id', 'status', 'body'],
  removed_tasks: ['id', 'removed_at', 'body'],
  spending: ['budget_id', 'period', 'amount'],
  sessions: ['tenant', 'principal', 'id', 'updated_at', 'deleted', 'body'],
} as const

export type MovedTable = keyof typeof movedTables
export type MovedRow = readonly (string | number | boolean | null)[]

/** A store from which everything moves. No other process uses it. */
export interface MoveSource {
  readonly taskCount: number
  readonly lastPositions: LastPositions
  /** Tasks in an order that does not change, a page at a time. */
  tasks(): Iterable<readonly MovedTask[]>
  rows(table: MovedTable): Iterable<readonly MovedRow[]>
  value(name: string): string | undefined
  close(): void
}

/** A store to which everything moves. Nothing is visible to other processes before the move ends. */
export interface MoveTarget {
  /** What an earlier move has left, as it was given to `finish`. */
  readonly earlier: string | undefined
  addTasks(tasks: readonly MovedTask[]): Promise<void>
  add(table: MovedTable, rows: readonly MovedRow[]): Promise<void>
  /** Reads tasks back, in the order of the ids. Undefined where a task is missing. */
  read(ids: readonly string[]): Promise<readonly (MovedTask | undefined)[]>
  count(table: MovedTable): Promise<number>
  finish(end: MoveEnd): Promise<void>
}

/** The highest position ever given in a table, also to a row that was removed. */
export type LastPositions = Readonly<Record<'audit' | 'events', number>>

export interface MoveEnd {
  readonly lastPositions: LastPositions
  /** Later events have not been offered to all tasks that wait for them. */
  readonly toldUpTo: number
  /** What followed writes before this instant was done (`engine/upkeep/follow-ups.ts`). */
  readonly doneUntil: number
  /** Kept, so that a later move finds it as `earlier`. */
  readonly note: string
}
