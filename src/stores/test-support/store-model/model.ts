/** A model of a store: maps, filters and sorts, without regard to speed or failures. */

import type { LogRecord } from '../../../core/records.ts'
import { isTerminal, states } from '../../../core/states.ts'
import type { StoredEvent } from '../../../core/waiting/cloud-event.ts'
import type { Claim } from '../../../ports/store/claims.ts'
import type { Commit, CommitResult, TaskQuery, TaskRow } from '../../../ports/store/tasks.ts'

/** Few values of each kind, so that random operations meet the same ones. */
export const ids: readonly string[] = ['t1', 't2', 't3']
export const tenants: readonly string[] = ['acme', 'other']
/** Never changes, so it depends on the id alone. */
export function tenantOf(id: string): string {
  return tenants[ids.indexOf(id) % 2] ?? ''
}

export const agents: readonly string[] = ['travel', 'tax']
export const names: readonly string[] = ['a', 'a:1', 'b', '*']
export const queries: readonly Query[] = [
  {},
  { tenant: 'acme', principal: 'ann' },
  { tenant: 'acme', principal: 'ann', states: ['working', 'completed'] },
  { states: states.slice(3) },
  { agent: 'tax', held: true },
  { contextId: 'context-of-t1', held: false },
  { statusAtFrom: 1, before: { statusAt: 2, id: 't2' } },
]

type Query = Omit<TaskQuery, 'limit'>

interface Entry {
  row: TaskRow
  readonly records: LogRecord[]
  anchor: string | null
  snapshot?: { readonly seq: number; readonly task: NonNullable<Commit['snapshot']> }
}

export interface Model {
  version(id: string): number
  commit(commit: Commit): CommitResult['status']
  append(tenant: string, event: StoredEvent['event'], receivedAt: number): boolean
  pruneTasks(statusBefore: number): number
  pruneEvents(receivedBefore: number): number
  load(id: string): unknown
  records(id: string): readonly LogRecord[]
  list(query: Query): readonly TaskRow[]
  ready(agent: string): readonly string[]
  orphans(alive: string): readonly string[]
  due(now: number): readonly string[]
  nextDueAt(): number | undefined
  waiting(tenant: string, names: readonly string[]): readonly string[]
  events(tenant: string): readonly Omit<StoredEvent, 'pos'>[]
}

export function createModel(): Model {
  const tasks = new Map<string, Entry>()
  const claims = new Map<string, Claim>()
  const stream: Omit<StoredEvent, 'pos'>[] = []
  const rows = (): TaskRow[] => [...tasks.values()].map((known) => known.row)
  const which = (wanted: (row: TaskRow) => boolean): string[] =>
    rows()
      .filter(wanted)
      .map((row) => row.id)
      .sort()

  return {
    version: (id) => tasks.get(id)?.records.length ?? 0,
    commit: (commit) => write(tasks, claims, commit),
    append(tenant, event, receivedAt) {
      const known = stream.some((one) => one.tenant === tenant && one.event.id === event.id)
      if (!known) stream.push({ tenant, receivedAt, event })
      return !known
    },
    pruneTasks(statusBefore) {
      const old = which((row) => isTerminal(row.state) && row.statusAt < statusBefore)
      for (const id of old) tasks.delete(id)
      return old.length
    },
    pruneEvents(receivedBefore) {
      const kept = stream.filter((one) => one.receivedAt >= receivedBefore)
      return stream.splice(0, stream.length, ...kept).length - kept.length
    },
    load(id) {
      const known = tasks.get(id)
      if (known === undefined) return undefined
      const { anchor, snapshot } = known
      if (snapshot === undefined) return { records: known.records, anchor }
      return { snapshot: snapshot.task, records: known.records.slice(snapshot.seq), anchor }
    },
    records: (id) => tasks.get(id)?.records ?? [],
    list: (query) =>
      rows()
        .filter((row) => isIn(query, row))
        .sort(newestFirst),
    ready: (agent) => which((row) => row.agent === agent && row.readyAt !== undefined),
    orphans: (alive) => which((row) => row.owner !== undefined && row.owner !== alive),
    due: (now) => which((row) => row.dueAt !== undefined && row.dueAt <= now),
    nextDueAt: () =>
      rows()
        .flatMap((row) => row.dueAt ?? [])
        .sort((a, b) => a - b)[0],
    waiting: (tenant, wanted) =>
      which((row) => row.tenant === tenant && row.waits.some((name) => wanted.includes(name))),
    events: (tenant) => stream.filter((one) => one.tenant === tenant),
  }
}

function write(
  tasks: Map<string, Entry>,
  claims: Map<string, Claim>,
  { taskId, expected, records, row, snapshot, anchor, claim }: Commit,
): CommitResult['status'] {
  const key = JSON.stringify([claim?.tenant, claim?.key])
  const holder = claim && claims.get(key)
  if (holder !== undefined && holder.taskId !== taskId) return 'claimed'
  const known = tasks.get(taskId)
  if ((known?.records.length ?? 0) !== expected) return 'conflict'
  if (claim !== undefined && holder === undefined) claims.set(key, claim)
  const next: Entry = known ?? { row: row as TaskRow, records: [], anchor: null }
  next.records.push(...records)
  next.row = row ?? next.row
  next.anchor = anchor ?? next.anchor
  if (snapshot !== undefined) next.snapshot = { seq: next.records.length, task: snapshot }
  tasks.set(taskId, next)
  return 'written'
}

function isIn(
  { states: wanted, statusAtFrom = 0, before, ...equal }: Query,
  row: TaskRow,
): boolean {
  return (
    Object.entries(equal).every(([key, value]) => row[key as keyof TaskRow] === value) &&
    (wanted?.includes(row.state) ?? true) &&
    row.statusAt >= statusAtFrom &&
    (before === undefined || newestFirst(before, row) < 0)
  )
}

type ListKey = Pick<TaskRow, 'statusAt' | 'id'>

function newestFirst(a: ListKey, b: ListKey): number {
  if (a.statusAt !== b.statusAt) return b.statusAt - a.statusAt
  return Number(a.id < b.id) - Number(a.id > b.id)
}
