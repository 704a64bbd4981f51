/** Lists tasks that have not ended, by context and id. */
import { isTerminal, states } from '../../../core/states.ts'
import type { OpenTaskQuery, TaskRow } from '../../../ports/store/tasks.ts'
import type { Database, Statement } from '../files/driver.ts'
import { toText } from '../text.ts'
import { toTaskRow } from './task-columns.ts'

/** The same text as in the index, which lets SQLite use the index. */
const NOT_ENDED = "state NOT IN ('completed', 'failed', 'canceled', 'rejected')"
/** Derived from the table of states, so that a state added later is classified correctly. */
const OPEN = `state IN (${states
  .filter((state) => !isTerminal(state))
  .map((state) => `'${state}'`)
  .join(', ')})`

/** SQL that tests whether a context has a task that has not ended, given three columns. */
export function hasOpenTask(tenant: string, principal: string, contextId: string): string {
  return `EXISTS (SELECT 1 FROM tasks AS other INDEXED BY tasks_open
    WHERE other.context_id = ${contextId} AND other.tenant = ${tenant}
      AND other.principal = ${principal} AND other.${NOT_ENDED})`
}

const narrowing = { tenant: 'tenant = ?', agent: 'agent = ?' } as const

export function createOpenTasks(db: Database): (query: OpenTaskQuery) => readonly TaskRow[] {
  const prepared = new Map<string, Statement>()

  function prepare(sql: string): Statement {
    const known = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, known)
    return known
  }

  return (query) => {
    const { contextId, after, held, limit } = query
    const fields = (['tenant', 'agent'] as const).filter((field) => query[field] !== undefined)
    // The range is one context after the cursor, or everything after the cursor.
    const range =
      contextId === undefined ? '(context_id, id) > (?, ?)' : 'context_id = ? AND id > ?'
    const sql = `SELECT * FROM tasks INDEXED BY ${held ? 'tasks_held_by_context' : 'tasks_open'}
      WHERE ${range} AND ${held ? 'held = 1' : NOT_ENDED} AND ${OPEN}
      ${fields.map((field) => `AND ${narrowing[field]}`).join(' ')}
      ORDER BY context_id, id LIMIT ?`
    const from = [toText(contextId ?? after?.contextId ?? ''), toText(after?.id ?? '')]
    const values = fields.map((field) => toText(query[field] ?? ''))
    return prepare(sql)
      .all(...from, ...values, limit)
      .map(toTaskRow)
  }
}
