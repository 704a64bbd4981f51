/**
 * Reads everything in a data directory, for a move to another store. Nothing is changed, except
 * that an old schema is migrated.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { LullError } from '../../core/errors.ts'
import type { Push } from '../../core/push.ts'
import {
  type MovedCommit,
  type MovedRow,
  type MovedTable,
  type MovedTask,
  type MoveSource,
  movedTables,
} from '../../ports/store/moving.ts'
import type { Policy } from '../../ports/store/policies.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'
import { toText } from '../../ports/store/text.ts'
import type { Database, Row, Statement, Value } from './files/driver.ts'
import { openDirectory } from './files/open-directory.ts'
import { toTaskRow } from './tasks/task-columns.ts'

/** Rows per page. */
const PAGE = 500
const TASK_PAGE = 200

/** @throws LullError `STORE_LOCKED` when a process uses the directory, `STORE_UNAVAILABLE` when it has no tasks */
export async function openMoveSource(path: string): Promise<MoveSource> {
  if (!existsSync(join(path, 'lull.db'))) {
    const why = `there is no lull.db in ${path}; give the data directory that keeps the tasks`
    throw new LullError('STORE_UNAVAILABLE', { why })
  }
  const options = { durability: 'full', maxBytes: undefined } as const
  const { db, release } = await openDirectory(path, 0, options)
  const value = db.prepare('SELECT value FROM key_values WHERE name = ?')
  const numberIn = (sql: string): number => Number(db.prepare(sql).get()?.['n'] ?? 0)
  return {
    taskCount: numberIn('SELECT count(*) AS n FROM tasks'),
    lastEventPos: numberIn("SELECT seq AS n FROM sqlite_sequence WHERE name = 'events'"),
    tasks: () => tasksIn(db),
    rows: (table) => rowsIn(db, table),
    value(name) {
      const text = value.get(toText(name))?.['value']
      return typeof text === 'string' ? text : undefined
    },
    close() {
      db.close()
      release()
    },
  }
}

function* tasksIn(db: Database): Generator<readonly MovedTask[]> {
  const commits = db.prepare(
    `SELECT seq, body FROM records WHERE pos = ? AND task IS NULL
     UNION ALL SELECT seq, body FROM records WHERE task = ? ORDER BY seq`,
  )
  const snapshot = db.prepare('SELECT seq, body FROM snapshots WHERE task = ?')
  const page = db.prepare('SELECT * FROM tasks WHERE num > ? ORDER BY num LIMIT ?')
  for (const rows of pagesOf(page, ['num'], TASK_PAGE)) {
    yield rows.map((row) => {
      const num = row['num'] ?? null
      const kept = snapshot.get(num)
      return {
        row: toTaskRow(row),
        log: commits.all(num, num).map(toCommit),
        ...(kept && { snapshot: { seq: Number(kept['seq']), body: String(kept['body']) } }),
        ...(typeof row['anchor'] === 'string' ? { anchor: row['anchor'] } : {}),
      }
    })
  }
}

function toCommit({ seq, body }: Row): MovedCommit {
  return { last: Number(seq), body: String(body) }
}

interface Table {
  /** Default: the table itself. */
  readonly from?: string
  /** The columns of a unique key. Rows are read in its order. */
  readonly key: readonly string[]
  /** Converts a row whose columns differ from those of the move. */
  readonly values?: (row: Row) => MovedRow
}

const tables: Readonly<Record<MovedTable, Table>> = {
  audit: { key: ['pos'] },
  claims: { key: ['pos'], values: claimValues },
  events: { key: ['pos'] },
  context_messages: { key: ['pos'] },
  holds: { key: ['pos'] },
  key_values: { key: ['name'] },
  policies: { key: ['id'] },
  pushes: { key: ['task_id', 'id'], values: pushValues },
  removed_tasks: { key: ['id'], values: removedValues },
  spending: {
    from: 'spending LEFT JOIN (SELECT id, body FROM policies) ON id = budget_id',
    key: ['budget_id'],
    values: spendingValues,
  },
  sessions: {
    key: ['tenant', 'principal', 'id'],
    values: (row) => valuesOf('sessions', row, { deleted: row['deleted'] === 1 }),
  },
}

/** This store has the key of a claim as one text, with one part per line. */
function claimValues(row: Row): MovedRow {
  const [tenant = '', principal = '', agent = '', key = ''] = String(row['place']).split('\n')
  return valuesOf('claims', row, { tenant, principal, agent, key })
}

/** These tables have the tenant in the body alone. */
function pushValues(row: Row): MovedRow {
  const { owner } = JSON.parse(String(row['body'])) as Push
  return valuesOf('pushes', row, { tenant: toText(owner.tenant) })
}

function removedValues(row: Row): MovedRow {
  const { tenant } = JSON.parse(String(row['body'])) as TaskRow
  return valuesOf('removed_tasks', row, { tenant: toText(tenant) })
}

/** This store has one sum per budget. It becomes that of the budget's tenant, or of "*". */
function spendingValues(row: Row): MovedRow {
  const budget = row['body'] === null ? undefined : (JSON.parse(String(row['body'])) as Policy)
  const scope = budget?.scope
  const tenant = scope !== undefined && 'tenant' in scope ? scope.tenant : undefined
  return valuesOf('spending', row, { tenant: toText(tenant ?? '*') })
}

function valuesOf(
  table: MovedTable,
  row: Row,
  changed: Readonly<Record<string, string | boolean>> = {},
): MovedRow {
  return movedTables[table].map((column) => changed[column] ?? row[column] ?? null)
}

function* rowsIn(db: Database, table: MovedTable): Generator<readonly MovedRow[]> {
  const { from = table, key, values = (row: Row) => valuesOf(table, row) } = tables[table]
  const place = key.join(', ')
  const marks = key.map(() => '?').join(', ')
  const page = db.prepare(
    `SELECT * FROM ${from} WHERE (${place}) > (${marks}) ORDER BY ${place} LIMIT ?`,
  )
  for (const rows of pagesOf(page, key, PAGE)) yield rows.map(values)
}

/**
 * Yields pages in the order of the key. It can start after zeros and empty texts, because positions
 * are greater than 0 and no key consists of empty texts.
 */
function* pagesOf(
  page: Statement,
  key: readonly string[],
  limit: number,
): Generator<readonly Row[]> {
  let after: readonly Value[] = key.map((column) => (isNumber(column) ? 0 : ''))
  for (;;) {
    const rows = page.all(...after, limit)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit) return
    after = key.map((column) => last[column] ?? null)
  }
}

function isNumber(column: string): boolean {
  return column === 'pos' || column === 'num'
}
