import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../test-support/processes.ts'
import { type Database, loadDriver, type OpenDatabase } from './driver.ts'
import { openDatabase } from './open-database.ts'

const open = await loadDriver()

function setting(db: Database, name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}

describe('opening the database', () => {
  it('waits for the disk at every commit, unless told to be relaxed', async () => {
    const file = join(await temporaryDirectory(), 'lull.db')
    for (const [durability, level] of [
      ['full', 2],
      ['relaxed', 1],
    ] as const) {
      const db = openDatabase(open, file, { durability, maxBytes: undefined })
      expect(setting(db, 'journal_mode')).toBe('wal')
      expect(setting(db, 'synchronous')).toBe(level)
      db.close()
    }
  })

  it('bounds the file', async () => {
    const file = join(await temporaryDirectory(), 'lull.db')
    const db = openDatabase(open, file, { durability: 'full', maxBytes: 1_000_000 })
    expect(setting(db, 'max_page_count')).toBe(244)
    db.close()
  })

  it('refuses a SQLite that is too old, in plain words', async () => {
    const file = join(await temporaryDirectory(), 'lull.db')
    const old: OpenDatabase = (path) => {
      const db = open(path)
      return {
        exec: (sql) => db.exec(sql),
        close: () => db.close(),
        prepare: (sql) => db.prepare(sql.replace('sqlite_version()', "'3.31.1'")),
      }
    }
    expect(() => openDatabase(old, file, { durability: 'full', maxBytes: undefined })).toThrow(
      'SQLite 3.31.1 is too old; 3.38 or newer is needed',
    )
  })
})
