/** No query of the store may scan a table, because a scan of a million tasks blocks every other call. */
import { describe, expect, it } from 'vitest'
import { states } from '../../core/states.ts'
import type { AuditQuery } from '../../ports/store/audit.ts'
import type { OpenTaskQuery, TaskQuery } from '../../ports/store/tasks.ts'
import { creation, sampleClaim, sampleEvent, step } from '../../testing/sample-task.ts'
import { createDatabaseStore } from './database-store.ts'
import { type Database, loadDriver } from './files/driver.ts'
import { migrate, readMigrations } from './migrate.ts'

/** Tables with few rows, or none. */
const small = [
  'policies',
  'holds',
  'key_values',
  'probe',
  'sqlite_sequence',
  'json_each',
  'next',
  'page',
  'runs',
]

const queries: readonly Omit<TaskQuery, 'limit'>[] = [
  {},
  { tenant: 'a' },
  { tenant: 'a', principal: 'b' },
  { tenant: 'a', principal: 'b', states: ['working'], before: { statusAt: 1, id: 'x' } },
  { agent: 'a', statusAtFrom: 1 },
  { contextId: 'a', tenant: 'a', principal: 'b' },
  { parentId: 'a', tenant: 'a', principal: 'b' },
  { held: true },
  { states: states.slice(0, 5) },
]

const openQueries: readonly Omit<OpenTaskQuery, 'limit'>[] = [
  {},
  { after: { tenant: 't', contextId: 'a', id: 'b' } },
  { tenant: 'a', agent: 'b' },
  { contextId: 'a' },
  { held: true },
  { held: true, contextId: 'a', after: { tenant: 't', contextId: 'a', id: 'b' } },
]

const auditQueries: readonly Omit<AuditQuery, 'limit'>[] = [
  {},
  { tenant: 'a' },
  { principal: 'b' },
  { tenant: 'a', principal: 'b' },
  { principal: 'b', after: { at: 1, id: 'c' } },
  { principal: 'b', after: { at: 1, id: 'c' }, order: 'desc' },
  { tenant: 'a', after: { at: 1, id: 'c' } },
  { taskId: 'a' },
]

/** Runs every query of the store and returns the prepared statements. */
async function everyStatement(db: Database): Promise<readonly string[]> {
  const seen: string[] = []
  const store = createDatabaseStore(
    {
      exec: (sql) => db.exec(sql),
      close: () => undefined,
      prepare(sql) {
        seen.push(sql)
        return db.prepare(sql)
      },
    },
    () => undefined,
  )
  await store.commit([creation('task-1', {}, { claim: sampleClaim('task-1') }), step('task-1', 2)])
  await store.appendEvents('acme', [sampleEvent('1')], 1)
  for (const query of queries) {
    await store.list({ ...query, limit: 9 })
    const { before: _, ...filter } = query
    await store.count(filter)
  }
  for (const query of auditQueries) await store.audit({ ...query, limit: 9 })
  for (const query of openQueries) await store.openTasks({ ...query, limit: 9 })
  return [...new Set(seen)].filter((sql) => !/^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/.test(sql))
}

describe('query plans', async () => {
  const db = (await loadDriver())(':memory:')
  migrate(db, readMigrations(), 0)
  const plans = (await everyStatement(db)).map((sql) => ({
    sql: sql.replace(/\s+/g, ' '),
    steps: db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((row) => String(row['detail'])),
  }))

  it.each(plans)('$sql', ({ sql, steps }) => {
    for (const one of steps) {
      const [, table = ''] = /^SCAN (\w+)/.exec(one) ?? []
      // Counting all tasks reads a whole index. `tasks_held` holds only held tasks.
      const counts = sql.startsWith('SELECT count(*)') && one.includes('USING COVERING INDEX')
      const allowed = counts || one.includes('tasks_held') || small.includes(table)
      expect(table === '' || allowed, one).toBe(true)
    }
  })

  const lists = plans.filter(({ sql }) =>
    /^SELECT tasks\.\*.+INDEXED BY tasks_by_(principal|state)/.test(sql),
  )

  it.each(lists)('reads each page in order, and sorts only what it merges: $sql', ({ steps }) => {
    const afterReading = steps.filter((_, n) => steps[n - 1]?.includes(' INDEX tasks_by_'))
    expect(afterReading).not.toEqual([])
    for (const one of afterReading) expect(one).not.toContain('TEMP B-TREE')
  })

  const ofPrincipals = plans.filter(({ sql }) => / audit WHERE .*principal = /.test(sql))

  // `it.each` of an empty list runs nothing, so the lists have a test of their own.
  it('finds the statements that the tests above and below are about', () => {
    expect(lists).not.toEqual([])
    expect(ofPrincipals).toHaveLength(4)
  })

  it.each(ofPrincipals)('reads only the entries of the principal: $sql', ({ steps }) => {
    expect(steps.join()).toMatch(/audit_by_(tenant_and_)?principal \(.*principal=\?/)
    expect(steps.join()).not.toContain('TEMP B-TREE')
  })
})
