import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Database, loadDriver } from './files/driver.ts'
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

  it('refuse a database of another version in plain words', async () => {
    const path = await temporaryDirectory()
    await (await createSqliteStore({ path })).close()
    const db = open(join(path, 'lull.db'))
    db.exec("INSERT INTO migrations VALUES (9999, '9999-later', 0)")
    db.close()
    await expect(createSqliteStore({ path })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('written by another version of Lull (schema 9999'),
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
