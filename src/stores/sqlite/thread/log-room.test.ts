import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadDriver } from '../driver.ts'
import { openDatabase } from '../open-database.ts'
import { temporaryDirectory } from '../test-support/processes.ts'
import { createLogRoom } from './log-room.ts'

const MIB = 1024 * 1024
const options = { durability: 'full', maxBytes: undefined } as const

describe('room in the write-ahead log', () => {
  it('is given in pieces, no more than is needed, and is no part of the log', async () => {
    const open = await loadDriver()
    const path = await temporaryDirectory()
    const file = join(path, 'lull.db')
    const db = openDatabase(open, file, options)
    db.exec('CREATE TABLE notes (body TEXT)')
    const insert = db.prepare('INSERT INTO notes VALUES (?)')
    const room = createLogRoom(db, file, 2 * MIB)
    const sizes = new Set<number>()
    for (let n = 0; n < 400; n++) {
      insert.run(`${n} ${'x'.repeat(8_000)}`)
      room.keep()
      sizes.add(Math.floor(statSync(`${file}-wal`).size / MIB))
    }
    // A few pieces, then as SQLite will have it.
    expect([...sizes].slice(0, 2)).toEqual([1, 2])
    room.close()

    // What a crash leaves: the files as they are, without a word of good-bye.
    const left = join(path, 'left.db')
    copyFileSync(file, left)
    copyFileSync(`${file}-wal`, `${left}-wal`)
    db.close()
    const found = openDatabase(open, left, options)
    expect(found.prepare('SELECT count(*) AS n FROM notes').get()).toMatchObject({ n: 400 })
    expect(found.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' })
    found.close()
  })

  it('is not made while somebody else writes', async () => {
    const open = await loadDriver()
    const file = join(await temporaryDirectory(), 'lull.db')
    const db = openDatabase(open, file, options)
    db.exec('PRAGMA busy_timeout = 0')
    db.exec('CREATE TABLE notes (body TEXT)')
    const other = open(file)
    other.exec('BEGIN IMMEDIATE')
    const { size } = statSync(`${file}-wal`)
    const room = createLogRoom(db, file, MIB)
    room.keep()
    expect(statSync(`${file}-wal`).size).toBe(size)
    other.close()
    db.close()
  })

  it('is done without where there is no log', async () => {
    const open = await loadDriver()
    const db = open(':memory:')
    const room = createLogRoom(db, join(await temporaryDirectory(), 'nothing.db'), MIB)
    expect(() => room.keep()).not.toThrow()
    room.close()
    db.close()
  })
})
