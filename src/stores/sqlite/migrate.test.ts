import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  creation,
  sampleClaim,
  sampleMessage,
  sampleRecords,
  step,
} from '../../testing/sample-task.ts'
import { pruneTasks } from '../../testing/store-contract/prune-tasks.ts'
import { RUN } from './claim-index.ts'
import { type Database, loadDriver } from './driver.ts'
import { type Migration, migrate, readMigrations } from './migrate.ts'
import { createSqliteStore } from './sqlite-store.ts'
import { temporaryDirectory } from './test-support/processes.ts'

const open = await loadDriver()
const first: Migration = { number: 1, name: '0001-a', sql: 'CREATE TABLE a (x INTEGER) STRICT' }
const second: Migration = { number: 2, name: '0002-b', sql: 'CREATE TABLE b (x INTEGER) STRICT' }

function applied(db: Database): readonly unknown[] {
  return db.prepare('SELECT number, name, applied_at FROM migrations ORDER BY number').all()
}

describe('migrations', () => {
  it('are numbered without gaps, in the order of their names', () => {
    const migrations = readMigrations()
    expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, index) => index + 1))
    for (const { number, name } of migrations) {
      expect(name).toMatch(new RegExp(`^${String(number).padStart(4, '0')}-[a-z-]+$`))
    }
  })

  it('run once each, and later ones follow where an older version left off', () => {
    const db = open(':memory:')
    migrate(db, [first], 10)
    migrate(db, [first], 20)
    migrate(db, [first, second], 30)
    expect(applied(db)).toEqual([
      { number: 1, name: '0001-a', applied_at: 10 },
      { number: 2, name: '0002-b', applied_at: 30 },
    ])
    db.prepare('INSERT INTO b (x) VALUES (1)').run()
  })

  it('leave no trace when one fails half-way, and run again next time', () => {
    const db = open(':memory:')
    const broken = { ...second, sql: 'CREATE TABLE b (x INTEGER); CREATE TABLE a (x INTEGER)' }
    expect(() => migrate(db, [first, broken], 10)).toThrow('already exists')
    expect(applied(db)).toHaveLength(1)
    migrate(db, [first, second], 20)
    expect(applied(db)).toHaveLength(2)
  })

  it('refuse a database of a newer version in plain words', async () => {
    const path = await temporaryDirectory()
    await (await createSqliteStore({ path })).close()
    const db = open(join(path, 'lull.db'))
    db.exec("INSERT INTO migrations VALUES (9999, '9999-later', 0)")
    db.close()
    await expect(createSqliteStore({ path })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('written by a newer version of Lull (schema 9999'),
    })
  })

  it('refuse the database of another program', async () => {
    const path = await temporaryDirectory()
    const db = open(join(path, 'lull.db'))
    db.exec('CREATE TABLE recipes (name TEXT)')
    db.close()
    await expect(createSqliteStore({ path })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('belongs to another program'),
    })
  })
})

/** A data directory written by an earlier version, which had fewer migrations. */
async function writtenBefore(number: number, write: (db: Database) => void): Promise<string> {
  const path = await temporaryDirectory()
  const db = open(join(path, 'lull.db'))
  migrate(
    db,
    readMigrations().filter((one) => one.number < number),
    0,
  )
  db.exec('BEGIN')
  write(db)
  db.exec('COMMIT')
  db.close()
  return path
}

describe('what an older version wrote', () => {
  it('keeps its claims', async () => {
    const reply = sampleMessage('answer')
    const claimOf = (n: number) =>
      sampleClaim(`task-${n}`, { key: `key-${n}`, createdAt: n, ...(n === 3 ? { reply } : {}) })
    const count = RUN + 10
    const path = await writtenBefore(5, (db) => {
      const insert = db.prepare(
        `INSERT INTO claims VALUES ('acme', 'ann', 'travel', ?, ?, 'digest-1', ?, ?)`,
      )
      for (let n = 0; n < count; n++) {
        insert.run(`key-${n}`, `task-${n}`, n, n === 3 ? JSON.stringify(reply) : null)
      }
    })
    const store = await createSqliteStore({ path })
    for (const n of [0, 3, RUN - 1, RUN, count - 1]) {
      expect(await store.findClaim(claimOf(n))).toEqual(claimOf(n))
    }
    expect(await store.claim({ ...claimOf(5), taskId: 'late' })).toEqual(claimOf(5))
    expect(await store.findClaim(claimOf(count))).toBeUndefined()
    expect(await store.pruneClaims(5, 99)).toBe(5)
    await store.close()
  })

  it('is counted for each principal', async () => {
    const path = await writtenBefore(10, (db) => {
      const insert = db.prepare(
        `INSERT INTO tasks (num, id, tenant, principal, agent, context_id, state, created_at, status_at, held)
         VALUES (?, ?, 'acme', 'ann', 'travel', 'c', ?, 1, 1, 0)`,
      )
      insert.run(1, 'task-1', 'completed')
      insert.run(3, 'task-3', 'working')
      db.exec(`INSERT INTO records (pos, task, seq, body)
               VALUES (1, NULL, 2, '[1,2]'), (2, 1, 3, '[3]'), (3, NULL, 1, '["é"]')`)
      db.exec(`INSERT INTO events (tenant, source, event_id, type, received_at, body)
               VALUES ('acme', 'ci', '1', 't', 1, '{}')`)
    })
    const store = await createSqliteStore({ path })
    expect(await store.usage('acme', 'ann')).toEqual({
      principal: { tasks: 2, openTasks: 1, bytes: 14 },
      tenant: { tasks: 2, openTasks: 1, bytes: 16 },
    })
    await store.close()
  })

  it('keeps its logs, which go on where they were', async () => {
    const path = await writtenBefore(6, (db) => {
      const insert = db.prepare(
        `INSERT INTO tasks (num, id, tenant, principal, agent, context_id, state, created_at, status_at, held)
         VALUES (?, ?, 'acme', 'ann', 'travel', 'c', 'completed', 1, 1, 0)`,
      )
      const append = db.prepare('INSERT INTO records (pos, task, seq, body) VALUES (?, ?, ?, ?)')
      const records = (version: number, ...texts: readonly string[]) =>
        JSON.stringify(sampleRecords(version, ...texts))
      insert.run(1, 'task-1')
      insert.run(2, 'task-2')
      append.run(1, 1, 2, records(0, 'born', 'started'))
      append.run(2, 1, 3, records(2, 'more'))
      append.run(3, 2, 1, records(0, 'other'))
    })
    const store = await createSqliteStore({ path })
    const results = await store.commit([step('task-1', 3), step('task-2', 1), creation('task-3')])
    expect(results.map(({ status }) => status)).toEqual(['written', 'written', 'written'])
    expect(await store.commit([step('task-3', 2), step('task-1', 3)])).toEqual([
      { status: 'written' },
      { status: 'conflict', version: 4 },
    ])
    const lengths = { 'task-1': 4, 'task-2': 2, 'task-3': 3 }
    for (const [id, length] of Object.entries(lengths)) {
      const { records = [] } = (await store.load(id)) ?? {}
      expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length }, (_, n) => n + 1))
      expect(await store.records(id, 1, 1)).toEqual(records.slice(1, 2))
    }
    expect(await pruneTasks(store, 2)).toBe(2)
    expect(await store.load('task-1')).toBeUndefined()
    expect(await store.records('task-3', 0, 9)).toHaveLength(3)
    await store.close()
  })
})
