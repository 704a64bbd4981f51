import type { LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import {
  type ByFilter,
  narrowedBy,
  type StoredTask,
  type TaskFilter,
  type TaskKey,
  type TaskRow,
} from '../../ports/store/tasks.ts'
import type { Direct } from '../../ports/store.ts'
import type { Pushes } from './pushes.ts'
import type { UsageTotals } from './usage.ts'
import type { WorkQueries } from './work.ts'

/** A commit encoded as text. */
export interface EncodedCommit {
  readonly bodies: readonly string[]
  readonly row: TaskRow | undefined
  readonly snapshot: string | undefined
  readonly anchor: string | undefined
}

export interface Tasks
  extends Direct<
    | 'load'
    | 'row'
    | 'records'
    | 'list'
    | 'count'
    | 'openTasks'
    | 'pruneTasks'
    | 'removedTask'
    | 'pruneRemovedTasks'
    | 'tenantOf'
  > {
  /** 0 for a task that does not exist. */
  version(key: TaskKey): number
  write(taskId: string, encoded: EncodedCommit): void
  /** Whether the context has a task that has not ended. */
  isOpen(context: Pick<TaskRow, 'tenant' | 'principal' | 'contextId'>): boolean
}

interface Entry {
  row: TaskRow
  readonly bodies: string[]
  snapshot: { readonly seq: number; readonly body: string } | undefined
  anchor: string | undefined
}

export function createTasks(work: WorkQueries, pushes: Pushes, usage: UsageTotals): Tasks {
  const entries = new Map<string, Entry>()
  const removedRows = new Map<string, { readonly row: TaskRow; readonly removedAt: number }>()

  /** Ids are unique among all tenants, so a task is found by its id, and its tenant is compared. */
  function find(tenant: string, taskId: string): Entry | undefined {
    const entry = entries.get(taskId)
    return entry?.row.tenant === tenant ? entry : undefined
  }

  const rows = (wanted: (row: TaskRow) => boolean): TaskRow[] =>
    [...entries.values()].map((entry) => entry.row).filter(wanted)

  function rowsIn(filter: TaskFilter): TaskRow[] {
    const passing = narrowedBy(tests, filter)
    return rows((row) => passing.every((passes) => passes(row)))
  }

  const isOpen: Tasks['isOpen'] = ({ tenant, principal, contextId }) =>
    rowsIn({ tenant, principal, contextId }).some((row) => !isTerminal(row.state))

  return {
    version: ({ tenant, id }) => find(tenant, id)?.bodies.length ?? 0,
    write(taskId, { bodies, row, snapshot, anchor }) {
      const entry = entries.get(taskId) ?? (row && newEntry(row))
      if (entry === undefined) return
      const isNew = entry.bodies.length === 0
      const { tenant, principal } = entry.row
      usage.add(tenant, principal, {
        tasks: Number(isNew),
        openTasks: openIn(row ?? entry.row) - (isNew ? 0 : openIn(entry.row)),
        bytes: bytesOf(bodies),
      })
      entries.set(taskId, entry)
      entry.bodies.push(...bodies)
      if (snapshot !== undefined) entry.snapshot = { seq: entry.bodies.length, body: snapshot }
      entry.anchor = anchor ?? entry.anchor
      if (row === undefined) return
      entry.row = row
      work.put(row)
    },
    load(tenant, taskId) {
      const entry = find(tenant, taskId)
      return entry && toStoredTask(entry)
    },
    row(tenant, taskId) {
      const entry = find(tenant, taskId)
      return entry && structuredClone(entry.row)
    },
    records: (tenant, taskId, afterSeq, limit) =>
      parsed(find(tenant, taskId)?.bodies.slice(afterSeq, afterSeq + limit) ?? []),
    tenantOf: (taskId) => entries.get(taskId)?.row.tenant,
    list: (query) =>
      rowsIn(query)
        .filter((row) => isAfter(query.before, row))
        .sort(newestFirst)
        .slice(0, query.limit)
        .map((row) => structuredClone(row)),
    count: (filter) => rowsIn(filter).length,
    openTasks: ({ after, limit, ...filter }) =>
      rowsIn(filter)
        .filter((row) => !isTerminal(row.state))
        .filter((row) => after === undefined || byContext(after, row) < 0)
        .sort(byContext)
        .slice(0, limit)
        .map((row) => structuredClone(row)),
    pruneTasks(statusBefore, removedAt, limit) {
      const old = rows((row) => isTerminal(row.state) && row.statusAt < statusBefore)
        .filter((row) => !isOpen(row) && !pushes.hasUndelivered(row.id))
        .slice(0, limit)
      for (const row of old) {
        removedRows.set(row.id, { row, removedAt })
        const bytes = -bytesOf(entries.get(row.id)?.bodies ?? [])
        usage.add(row.tenant, row.principal, { tasks: -1, bytes })
        entries.delete(row.id)
        work.remove(row.id)
        pushes.drop(row.id)
      }
      return { removed: old.length, ...(old.length < limit ? {} : { after: '' }) }
    },
    removedTask(tenant, taskId) {
      const row = removedRows.get(taskId)?.row
      return row?.tenant === tenant ? structuredClone(row) : undefined
    },
    pruneRemovedTasks(removedBefore, limit) {
      const old = [...removedRows].filter(([, { removedAt }]) => removedAt < removedBefore)
      for (const [id] of old.slice(0, limit)) removedRows.delete(id)
      return Math.min(old.length, limit)
    },
    isOpen,
  }
}

function newEntry(row: TaskRow): Entry {
  return { row, bodies: [], snapshot: undefined, anchor: undefined }
}

function toStoredTask({ row, bodies, snapshot, anchor }: Entry): StoredTask {
  const { state, statusAt } = row
  const around = { row: { state, statusAt }, anchor: anchor ?? null }
  if (snapshot === undefined) return { records: parsed(bodies), ...around }
  const records = parsed(bodies.slice(snapshot.seq))
  return { snapshot: JSON.parse(snapshot.body) as Task, records, ...around }
}

function openIn({ state }: TaskRow): number {
  return isTerminal(state) ? 0 : 1
}

function bytesOf(bodies: readonly string[]): number {
  return bodies.reduce((total, body) => total + Buffer.byteLength(body), 0)
}

function parsed(bodies: readonly string[]): readonly LogRecord[] {
  return bodies.map((body) => JSON.parse(body) as LogRecord)
}

type Test = (row: TaskRow) => boolean

const same =
  <K extends keyof TaskRow>(key: K) =>
  (wanted: TaskRow[K]): Test =>
  (row) =>
    row[key] === wanted

const tests: ByFilter<Test> = {
  tenant: same('tenant'),
  principal: same('principal'),
  agent: same('agent'),
  contextId: same('contextId'),
  parentId: same('parentId'),
  held: same('held'),
  states: (wanted) => (row) => wanted.includes(row.state),
  statusAtFrom: (from) => (row) => row.statusAt >= from,
}

type ContextKey = Pick<TaskRow, 'contextId' | 'id'>
type ListKey = Pick<TaskRow, 'statusAt' | 'id'>

function isAfter(before: ListKey | undefined, row: ListKey): boolean {
  return before === undefined || newestFirst(before, row) < 0
}

function byContext(a: ContextKey, b: ContextKey): number {
  return compare(a.contextId, b.contextId) || compare(a.id, b.id)
}

function compare(a: string, b: string): number {
  return Number(a > b) - Number(a < b)
}

function newestFirst(a: ListKey, b: ListKey): number {
  if (a.statusAt !== b.statusAt) return b.statusAt - a.statusAt
  return Number(a.id < b.id) - Number(a.id > b.id)
}
