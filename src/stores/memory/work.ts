/**
 * Finds tasks with something to do. Only the rows of such tasks are kept here, because the engine
 * asks after every write.
 */

import { RESERVED_MS } from '../../ports/store/cluster.ts'
import { inTurn } from '../../ports/store/in-turn.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'
import type { WorkStore } from '../../ports/store/work.ts'
import type { Direct } from '../../ports/store.ts'

export interface WorkQueries extends Direct<keyof WorkStore> {
  put(row: TaskRow): void
  remove(taskId: string): void
}

type Instant = 'readyAt' | 'dueAt' | 'createdAt'

/** What a shared store adds: reservations, and which owners have a lease. */
export interface SharedWork {
  readonly reservations: Reservations<string>
  readonly isAlive: (worker: string) => boolean
  /** The clock of the store. */
  readonly now: () => number
}

export function createWorkQueries(shared?: SharedWork): WorkQueries {
  const rows = new Map<string, TaskRow>()
  /** The tenant whose task `ready` returned last, by agent. */
  const last = new Map<string, string>()
  const isFree = ({ id }: TaskRow): boolean => shared?.reservations.isFree(id) ?? true

  /** Returns the first rows that are not reserved, and reserves them. */
  function take(found: readonly TaskRow[], limit: number): readonly TaskRow[] {
    const taken = found.filter(isFree).slice(0, limit)
    for (const { id } of taken) shared?.reservations.reserve(id)
    return taken
  }

  const which = (wanted: (row: TaskRow) => boolean): TaskRow[] => [...rows.values()].filter(wanted)
  const ready = (): TaskRow[] => which((row) => row.readyAt !== undefined)

  return {
    put(row) {
      const { id, readyAt, owner, dueAt, waits } = row
      const hasWork =
        readyAt !== undefined || owner !== undefined || dueAt !== undefined || waits.length > 0
      shared?.reservations.release(id)
      if (hasWork) rows.set(id, row)
      else rows.delete(id)
    },
    remove(taskId) {
      rows.delete(taskId)
    },
    ready(agent, limit, except = [], skip = []) {
      const waiting = earliest(ready(), 'readyAt')
        .filter((row) => row.agent === agent && !except.includes(row.tenant) && isFree(row))
        .filter(({ id }) => !skip.includes(id))
      const tasks = waiting.map(({ id, tenant }) => ({ taskId: id, tenant }))
      const tenants = [...new Set(tasks.map(({ tenant }) => tenant))].sort()
      const behind = tenants.filter((tenant) => tenant > (last.get(agent) ?? ''))
      const found = inTurn(
        [...new Set([...behind, ...tenants])].map((tenant) =>
          tasks.filter((task) => task.tenant === tenant),
        ),
        limit,
      )
      const latest = found.at(-1)
      if (latest !== undefined) last.set(agent, latest.tenant)
      for (const { taskId } of found) shared?.reservations.reserve(taskId)
      return found
    },
    readyAgents: () => [...new Set(ready().map((row) => row.agent))],
    orphans(alive, limit, agents) {
      const isAlive = shared?.isAlive ?? ((owner: string) => owner === alive)
      const found = which(({ owner }) => owner !== undefined && !isAlive(owner)).filter(
        ({ agent }) => agents?.includes(agent) ?? true,
      )
      return take(found, limit).map(({ id, tenant, owner = '' }) => ({ taskId: id, tenant, owner }))
    },
    due(now, limit) {
      const reached = Math.min(now, shared?.now() ?? now)
      const found = which(({ dueAt }) => dueAt !== undefined && dueAt <= reached)
      return take(earliest(found, 'dueAt'), limit).map(({ id, tenant }) => ({ taskId: id, tenant }))
    },
    nextDueAt: () =>
      earliest(
        which((row) => row.dueAt !== undefined),
        'dueAt',
      )[0]?.dueAt,
    waiting: (tenant, names, after, limit) =>
      ids(which((row) => row.tenant === tenant && row.waits.some((name) => names.includes(name))))
        .filter((id) => id > after)
        .sort()
        .slice(0, limit),
    waitNames: (tenant, prefix, after, limit) =>
      [...new Set(which((row) => row.tenant === tenant).flatMap((row) => row.waits))]
        .filter((name) => name.startsWith(prefix) && name > after)
        .sort()
        .slice(0, limit),
    waitOwners: (tenant, names) =>
      names.flatMap((name) => {
        const waiting = which((row) => row.tenant === tenant && row.waits.includes(name))
        return waiting.sort((a, b) => (a.id < b.id ? -1 : 1))[0]?.principal ?? []
      }),
  }
}

function earliest(rows: TaskRow[], key: Instant): TaskRow[] {
  return rows.sort((a, b) => (a[key] ?? 0) - (b[key] ?? 0))
}

function ids(rows: readonly TaskRow[]): string[] {
  return rows.map((row) => row.id)
}

/** Reservations: what was given to one process and is not given to another for a while. */
export interface Reservations<K> {
  readonly isFree: (key: K) => boolean
  reserve(key: K): void
  release(key: K): void
}

export function createReservations<K>(now: () => number): Reservations<K> {
  const until = new Map<K, number>()
  return {
    isFree: (key) => (until.get(key) ?? 0) <= now(),
    reserve(key) {
      until.set(key, now() + RESERVED_MS)
    },
    release(key) {
      until.delete(key)
    },
  }
}
