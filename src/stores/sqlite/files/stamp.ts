/**
 * Marks `lull.db` so that a copy of it without its write-ahead log is known for what it is.
 *
 *   file lull.db      what SQLite reads (file and log)     meaning
 *   -S                S                                    the log is needed, and it is the one that begins with stamp S
 *   S                 S                                    the file alone is complete
 *
 * The stamp is SQLite's `user_version`, four bytes in the first page. `renew` writes the old stamp and -S to the log, has SQLite copy
 * the whole log into the file, and writes S to a log that begins anew. The log therefore has the stamp of the file at every
 * instant. When SQLite copies the log into the file later, it copies S too: the file is then complete, and the next write makes
 * a new stamp before it is acknowledged. A copy that SQLite makes (`.backup`, `VACUUM INTO`) reads S and is complete.
 */
import { randomInt } from 'node:crypto'
import type { Database } from './driver.ts'
import { BUSY_MS, type DatabaseOptions, synchronousOf } from './open-database.ts'

export interface Stamp {
  /** To be called before a write. @throws when it cannot be written, as the write would */
  finish(): void
  /** To be called after a write and before it is acknowledged. Whether it wrote anything. */
  renew(): boolean
}

/** How long to wait after a program that reads the database has prevented a new stamp. */
const AGAIN_MS = 5_000
/** The reading thread is done within this time. */
const READER_MS = 50
const LARGEST = 2 ** 31 - 1

/** @param inFile the stamp in the file, without the log */
export function createStamp(
  db: Database,
  inFile: () => number,
  durability: DatabaseOptions['durability'],
): Stamp {
  /** A stamp that may not be in the file yet. */
  let next: number | undefined
  /** Only the negative stamp was written. */
  let unfinished: number | undefined
  let notBefore = Number.NEGATIVE_INFINITY
  const set = (stamp: number): void => db.exec(`PRAGMA user_version = ${stamp}`)

  /** The checkpoint that follows waits for the disk, for both. */
  function begin(old: number, stamp: number): void {
    db.exec('PRAGMA synchronous = OFF')
    try {
      set(old)
      set(-stamp)
    } finally {
      db.exec(`PRAGMA synchronous = ${synchronousOf(durability)}`)
    }
    unfinished = stamp
  }

  /** Whether the whole log is in the file, and begins anew with the next write. */
  function empty(): boolean {
    db.exec(`PRAGMA busy_timeout = ${READER_MS}`)
    const { busy } = db.prepare('PRAGMA wal_checkpoint(RESTART)').get() ?? {}
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    return busy === 0
  }

  function finish(): void {
    if (unfinished === undefined) return
    set(unfinished)
    unfinished = undefined
  }

  return {
    finish,
    renew() {
      const old = inFile()
      if (old < 0 || performance.now() < notBefore) return false
      if (next === undefined || next === old) next = randomInt(1, LARGEST)
      begin(old, next)
      if (!empty()) notBefore = performance.now() + AGAIN_MS
      finish()
      return true
    },
  }
}

/** A process was killed between the two halves of a stamp. To be called before the first write. */
export function finishStamp(db: Database): void {
  const stamp = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  if (stamp < 0) db.exec(`PRAGMA user_version = ${-stamp}`)
}
