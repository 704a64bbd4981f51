import { closeSync, cpSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../test-support/processes.ts'
import { findMismatch } from './data-directory.ts'
import { type Database, loadDriver } from './driver.ts'
import { HEADER_BYTES, readHeader } from './file-format.ts'
import { openDatabase } from './open-database.ts'
import { createStamp, finishStamp } from './stamp.ts'

const open = await loadDriver()
const options = { durability: 'full', maxBytes: undefined } as const

interface Opened {
  readonly path: string
  readonly db: Database
  readonly inFile: () => number
}

async function opened(): Promise<Opened> {
  const path = await temporaryDirectory()
  const file = join(path, 'lull.db')
  const db = openDatabase(open, file, options)
  db.exec('CREATE TABLE facts (name TEXT)')
  const fd = openSync(file, 'r')
  onTestFinished(() => {
    db.close()
    closeSync(fd)
  })
  const inFile = (): number => {
    const start = Buffer.alloc(HEADER_BYTES)
    readSync(fd, start, 0, HEADER_BYTES, 0)
    return readHeader(start)?.stamp ?? 0
  }
  return { path, db, inFile }
}

/** The database, with a look at its files after each statement that changes them. */
function observed(db: Database, look: () => void): Database {
  return {
    ...db,
    exec(sql) {
      db.exec(sql)
      look()
    },
    prepare(sql) {
      const statement = db.prepare(sql)
      return {
        run: (...values) => statement.run(...values),
        all: (...values) => statement.all(...values),
        get(...values) {
          const row = statement.get(...values)
          look()
          return row
        },
      }
    },
  }
}

const logical = (db: Database): number =>
  Number(db.prepare('PRAGMA user_version').get()?.['user_version'])

function copyFiles(from: string, to: string): void {
  for (const file of ['lull.db', 'lull.db-wal']) cpSync(join(from, file), join(to, file))
}

describe('the stamp of lull.db', () => {
  it('leaves files that belong together, wherever the process is killed', async () => {
    const { path, db, inFile } = await opened()
    const copies: string[] = []
    const next = await Promise.all(Array.from({ length: 64 }, temporaryDirectory))
    const look = (): void => {
      const copy = next[copies.length] ?? ''
      copyFiles(path, copy)
      copies.push(copy)
    }
    const stamp = createStamp(observed(db, look), inFile, 'full')
    for (let round = 0; round < 3; round++) {
      db.exec(`INSERT INTO facts VALUES ('round ${round}')`)
      expect(stamp.renew()).toBe(true)
      expect(inFile()).toBe(-logical(db))
      // SQLite copies the log by itself.
      db.exec('PRAGMA wal_checkpoint(PASSIVE)')
      expect(inFile()).toBe(logical(db))
      look()
    }
    expect(copies.length).toBeGreaterThan(20)
    for (const copy of copies) {
      expect(findMismatch(copy)).toBeUndefined()
      const again = openDatabase(open, join(copy, 'lull.db'), options)
      finishStamp(again)
      expect(logical(again)).toBeGreaterThanOrEqual(0)
      again.close()
      expect(findMismatch(copy)).toBeUndefined()
    }
  })

  it('is finished at the next start when the log had begun anew and its first commit was torn', async () => {
    const { path, db, inFile } = await opened()
    createStamp(db, inFile, 'full').renew()
    const torn = await temporaryDirectory()
    copyFiles(path, torn)
    const log = readFileSync(join(path, 'lull.db-wal'))
    log.fill(0xa5, 100, 200)
    writeFileSync(join(torn, 'lull.db-wal'), log)
    expect(findMismatch(torn)).toBeUndefined()
  })

  it('waits while another program reads, and is made when that has ended', async () => {
    const { path, db, inFile } = await opened()
    const stamp = createStamp(db, inFile, 'full')
    const reader = open(join(path, 'lull.db'))
    reader.exec('BEGIN')
    reader.exec('SELECT count(*) FROM facts')
    db.exec(`INSERT INTO facts VALUES ('later')`)
    stamp.renew()
    expect(inFile()).toBe(0)
    expect(logical(db)).toBeGreaterThan(0)
    expect(findMismatch(path)).toBeUndefined()
    expect(stamp.renew()).toBe(false)
    reader.exec('COMMIT')
    reader.close()
    expect(createStamp(db, inFile, 'full').renew()).toBe(true)
    expect(inFile()).toBe(-logical(db))
  })
})
