/**
 * Marks `lull.db` so that a copy of it without its write-ahead log can be recognised.
 *
 *   file lull.db      what SQLite reads (file and log)     meaning
 *   -S                S                                    the log is needed, and it is the one that begins with stamp S
 *   S                 S                                    the file alone is complete
 *
 * The stamp is SQLite's `user_version`, four bytes in the first page. `renew` writes the old stamp
 * and -S to the log, has SQLite copy the whole log into the file, and writes S to a log that begins
 * anew. The log therefore has the stamp of the file at every instant. When SQLite later copies the
 * log into the file, it copies S too: the file is then complete, and the next write renews the
 * stamp before it is acknowledged. A copy that SQLite makes (`.backup`, `VACUUM INTO`) reads S and
 * is complete.
 */
import { randomInt } from 'node:crypto'
import type { Database } from './driver.ts'
import { BUSY_MS, type DatabaseOptions, synchronousOf } from './open-database.ts'

export interface Stamp {
  /**
   * Completes a stamp that is half written. Must be called before a write.
   * @throws when it cannot be written, like the write itself
   */
  finish(): void
  /**
   * Renews the stamp if necessary, and returns whether it did. Must be called after a write and
   * before it is acknowledged.
   */
  renew(): boolean
}

/** The wait after a reader in another program has prevented a new stamp. */
const AGAIN_MS = 5_000
/** The reading thread finishes within this time. */
const READER_MS = 50
const LARGEST = 2 ** 31 - 1

/** @param inFile reads the stamp in the file, ignoring the log */
export function createStamp(
  db: Database,
  inFile: () => number,
  durability: DatabaseOptions['durability'],
): Stamp {
  /** A new stamp that may not be in the file yet. */
  let next: number | undefined
  /** A stamp of which only the negative value was written. */
  let unfinished: number | undefined
  let notBefore = Number.NEGATIVE_INFINITY
  const set = (stamp: number): void => db.exec(`PRAGMA user_version = ${stamp}`)

  /** Writes without waiting for the disk, because the checkpoint that follows waits for both. */
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

  /** Whether the whole log was copied into the file, so that the next write restarts it. */
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

/**
 * Completes a stamp if a process was killed between its two halves. Must be called before the first
 * write.
 */
export function finishStamp(db: Database): void {
  const stamp = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  if (stamp < 0) db.exec(`PRAGMA user_version = ${-stamp}`)
}
