import type { LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { OpenTaskQuery, StoredTask, TaskQuery, TaskRow } from '../../ports/store/tasks.ts'
import type { Agenda } from './agenda.ts'

/** A commit as text. */
export interface Draft {
  readonly bodies: readonly string[]
  readonly row: TaskRow | undefined
  readonly snapshot: string | undefined
}

type Filter = Omit<TaskQuery, 'limit' | 'before'>

export interface Tasks {
  /** 0 for a task that does not exist. */
  version(taskId: string): number
  write(taskId: string, draft: Draft): void
  load(taskId: string): StoredTask | undefined
  row(taskId: string): TaskRow | undefined
  records(taskId: string, afterSeq: number, limit: number): readonly LogRecord[]
  list(query: TaskQuery): readonly TaskRow[]
  count(query: Filter): number
  open(query: OpenTaskQuery): readonly TaskRow[]
  prune(statusBefore: number, limit: number): number
}

interface Entry {
  row: TaskRow
  readonly bodies: string[]
  snapshot: { readonly seq: number; readonly body: string } | undefined
}

export function createTasks(agenda: Agenda, dropped: (taskId: string) => void): Tasks {
  const entries = new Map<string, Entry>()

  const rows = (wanted: (row: TaskRow) => boolean): TaskRow[] =>
    [...entries.values()].map((entry) => entry.row).filter(wanted)

  return {
    version: (taskId) => entries.get(taskId)?.bodies.length ?? 0,
    write(taskId, { bodies, row, snapshot }) {
      const entry = entries.get(taskId) ?? (row && { row, bodies: [], snapshot: undefined })
      if (entry === undefined) return
      entries.set(taskId, entry)
      entry.bodies.push(...bodies)
      if (snapshot !== undefined) entry.snapshot = { seq: entry.bodies.length, body: snapshot }
      if (row === undefined) return
      entry.row = row
      agenda.put(row)
    },
    load(taskId) {
      const entry = entries.get(taskId)
      if (entry?.snapshot === undefined) return entry && { records: parsed(entry.bodies) }
      const { seq, body } = entry.snapshot
      return { snapshot: JSON.parse(body) as Task, records: parsed(entry.bodies.slice(seq)) }
    },
    row(taskId) {
      const entry = entries.get(taskId)
      return entry && structuredClone(entry.row)
    },
    records: (taskId, afterSeq, limit) =>
      parsed(entries.get(taskId)?.bodies.slice(afterSeq, afterSeq + limit) ?? []),
    list: (query) =>
      rows((row) => isIn(query, row) && isAfter(query.before, row))
        .sort(newestFirst)
        .slice(0, query.limit)
        .map((row) => structuredClone(row)),
    count: (query) => rows((row) => isIn(query, row)).length,
    open: ({ after, limit, ...filter }) =>
      rows((row) => !isTerminal(row.state) && isIn(filter, row))
        .filter((row) => after === undefined || byContext(after, row) < 0)
        .sort(byContext)
        .slice(0, limit)
        .map((row) => structuredClone(row)),
    prune(statusBefore, limit) {
      const old = rows((row) => isTerminal(row.state) && row.statusAt < statusBefore).slice(
        0,
        limit,
      )
      for (const { id } of old) {
        entries.delete(id)
        agenda.remove(id)
        dropped(id)
      }
      return old.length
    },
  }
}

function parsed(bodies: readonly string[]): readonly LogRecord[] {
  return bodies.map((body) => JSON.parse(body) as LogRecord)
}

function isIn(query: Filter, row: TaskRow): boolean {
  const same = (key: 'tenant' | 'principal' | 'agent' | 'contextId' | 'parentId' | 'held') =>
    query[key] === undefined || query[key] === row[key]
  return (
    same('tenant') &&
    same('principal') &&
    same('agent') &&
    same('contextId') &&
    same('parentId') &&
    same('held') &&
    (query.states === undefined || query.states.includes(row.state)) &&
    (query.statusAtFrom === undefined || row.statusAt >= query.statusAtFrom)
  )
}

type ContextPlace = Pick<TaskRow, 'contextId' | 'id'>
type Place = Pick<TaskRow, 'statusAt' | 'id'>

function isAfter(before: Place | undefined, row: Place): boolean {
  return before === undefined || newestFirst(before, row) < 0
}

function byContext(a: ContextPlace, b: ContextPlace): number {
  return compare(a.contextId, b.contextId) || compare(a.id, b.id)
}

function compare(a: string, b: string): number {
  return Number(a > b) - Number(a < b)
}

function newestFirst(a: Place, b: Place): number {
  if (a.statusAt !== b.statusAt) return b.statusAt - a.statusAt
  return Number(a.id < b.id) - Number(a.id > b.id)
}
