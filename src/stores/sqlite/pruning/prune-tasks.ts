/** Removes ended tasks, oldest first, one terminal state after the other. Tasks that are still needed are skipped. */
import { isTerminal, type State, states } from '../../../core/states.ts'
import type { PruneResult } from '../../../ports/store/pruning.ts'
import type { Database, Row } from '../files/driver.ts'
import { hasOpenTask } from '../tasks/open-tasks.ts'
import { toTaskRow } from '../tasks/task-columns.ts'
import type { Waits } from '../tasks/waits.ts'

type PruneTasks = (
  statusBefore: number,
  removedAt: number,
  limit: number,
  after?: string,
) => PruneResult

/** The last task that was looked at. */
type Cursor = readonly [state: State, statusAt: number, id: string]

const terminal: readonly State[] = states.filter(isTerminal)

export function createPruneTasks(db: Database, replaceWaits: Waits['replaceWaits']): PruneTasks {
  const ended = db.prepare(
    `SELECT *, ${hasOpenTask('tasks.tenant', 'tasks.principal', 'tasks.context_id')}
       OR EXISTS (SELECT 1 FROM pushes WHERE task_id = tasks.id AND status <> 'done') AS needed
     FROM tasks INDEXED BY tasks_by_state
     WHERE state = ? AND (status_at, id) > (?, ?) AND status_at < ?
     ORDER BY status_at, id LIMIT ?`,
  )
  const remember = db.prepare(
    'INSERT OR REPLACE INTO removed_tasks (id, removed_at, body) VALUES (?, ?, ?)',
  )
  const removals = [
    db.prepare('DELETE FROM records WHERE pos = ? AND task IS NULL'),
    db.prepare('DELETE FROM records WHERE task = ?'),
    db.prepare('DELETE FROM snapshots WHERE task = ?'),
    db.prepare('DELETE FROM tasks WHERE num = ?'),
  ]
  const pushes = db.prepare('DELETE FROM pushes WHERE task_id = ?')

  function remove(task: Row, removedAt: number): void {
    const { num = null, id, tenant, waits: names = null } = task
    remember.run(String(id), removedAt, JSON.stringify(toTaskRow(task)))
    replaceWaits(String(tenant), String(id), names as string | null, null)
    for (const removal of removals) removal.run(num)
    pushes.run(String(id))
  }

  return (statusBefore, removedAt, limit, after) => {
    const [from, statusAt, id]: Cursor =
      after === undefined ? firstOf(terminal[0]) : (JSON.parse(after) as Cursor)
    const old = ended.all(from, statusAt, id, statusBefore, limit)
    const unneeded = old.filter((task) => task['needed'] === 0)
    for (const task of unneeded) remove(task, removedAt)
    const last = old.at(-1)
    const next: Cursor | undefined =
      last !== undefined && old.length === limit
        ? [from, Number(last['status_at']), String(last['id'])]
        : stateAfter(from)
    const removed = unneeded.length
    return next === undefined ? { removed } : { removed, after: JSON.stringify(next) }
  }
}

function stateAfter(state: State): Cursor | undefined {
  const next = terminal[terminal.indexOf(state) + 1]
  return next && firstOf(next)
}

function firstOf(state: State = 'completed'): Cursor {
  return [state, Number.MIN_SAFE_INTEGER, '']
}
