/** Finds tasks with something to do. Only rows of such tasks are kept here, because the engine hasWork after every write. */
import type { TaskRow } from '../../ports/store/tasks.ts'

export interface WorkQueries {
  put(row: TaskRow): void
  remove(taskId: string): void
  ready(agent: string, limit: number): readonly string[]
  readyAgents(): readonly string[]
  orphans(alive: string, limit: number): readonly string[]
  due(now: number, limit: number): readonly string[]
  nextDueAt(): number | undefined
  waiting(tenant: string, names: readonly string[], after: string, limit: number): readonly string[]
  waitNames(tenant: string, prefix: string, after: string, limit: number): readonly string[]
}

type Instant = 'readyAt' | 'dueAt' | 'createdAt'

export function createWorkQueries(): WorkQueries {
  const rows = new Map<string, TaskRow>()

  const which = (wanted: (row: TaskRow) => boolean): TaskRow[] => [...rows.values()].filter(wanted)
  const ready = (): TaskRow[] => which((row) => row.readyAt !== undefined)

  return {
    put(row) {
      const { id, readyAt, owner, dueAt, waits } = row
      const hasWork =
        readyAt !== undefined || owner !== undefined || dueAt !== undefined || waits.length > 0
      if (hasWork) rows.set(id, row)
      else rows.delete(id)
    },
    remove(taskId) {
      rows.delete(taskId)
    },
    ready: (agent, limit) =>
      ids(earliest(ready(), 'readyAt').filter((row) => row.agent === agent)).slice(0, limit),
    readyAgents: () => [...new Set(ready().map((row) => row.agent))],
    orphans: (alive, limit) =>
      ids(which(({ owner }) => owner !== undefined && owner !== alive)).slice(0, limit),
    due: (now, limit) =>
      ids(
        earliest(
          which(({ dueAt }) => dueAt !== undefined && dueAt <= now),
          'dueAt',
        ),
      ).slice(0, limit),
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
  }
}

function earliest(rows: TaskRow[], key: Instant): TaskRow[] {
  return rows.sort((a, b) => (a[key] ?? 0) - (b[key] ?? 0))
}

function ids(rows: readonly TaskRow[]): string[] {
  return rows.map((row) => row.id)
}
