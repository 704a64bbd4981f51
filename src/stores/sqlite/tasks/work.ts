/** Finds tasks with something to do. Each query reads a range of a partial index that holds only such tasks. */
import type { Orphan } from '../../../ports/store/work.ts'
import type { Direct } from '../../../ports/store.ts'
import type { Database, Row } from '../files/driver.ts'
import { fromText, toText } from '../text.ts'
import { createReadyTasks } from './ready-tasks.ts'

export function createWorkQueries(
  db: Database,
): Direct<'ready' | 'readyAgents' | 'orphans' | 'due' | 'nextDueAt'> {
  // Jumps from one agent to the next, because reading all rows would read the whole backlog of an
  // agent.
  const readyAgents = db.prepare(
    `WITH RECURSIVE next (agent) AS (
       SELECT min(agent) FROM tasks WHERE ready_at IS NOT NULL
       UNION ALL
       SELECT (SELECT min(tasks.agent) FROM tasks
               WHERE ready_at IS NOT NULL AND tasks.agent > next.agent)
       FROM next WHERE next.agent IS NOT NULL
     )
     SELECT agent AS id FROM next WHERE agent IS NOT NULL`,
  )
  // Only one process can use the file, so every other worker has ended. There are two ranges,
  // because `<>` would read all tasks of this worker.
  const orphans = db.prepare(
    `SELECT id, owner FROM tasks WHERE owner < ?
     UNION ALL SELECT id, owner FROM tasks WHERE owner > ? LIMIT ?`,
  )
  const due = db.prepare('SELECT id FROM tasks WHERE due_at <= ? ORDER BY due_at, num LIMIT ?')
  const nextDue = db.prepare(
    'SELECT due_at FROM tasks WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1',
  )

  return {
    ready: createReadyTasks(db),
    readyAgents: () => readyAgents.all().map(toId),
    orphans: (alive, limit) => orphans.all(toText(alive), toText(alive), limit).map(toOrphan),
    due: (now, limit) => due.all(now, limit).map(toId),
    nextDueAt() {
      const row = nextDue.get()
      return row === undefined ? undefined : Number(row['due_at'])
    },
  }
}

function toId(row: Row): string {
  return fromText(String(row['id']))
}

function toOrphan(row: Row): Orphan {
  return { taskId: toId(row), owner: fromText(String(row['owner'])) }
}
