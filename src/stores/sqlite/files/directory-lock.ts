/**
 * One process per data directory. The lock is an open transaction on a separate database, `lull.lock`. The operating system
 * releases it when the process ends, also after `kill -9`, so no stale lock has to be cleaned up. The lock is not on
 * `lull.db`, so that backups can read `lull.db` while Lull runs. `lull.owner` only tells people which process has the lock.
 *
 * Do not open `lull.lock` by other means in this process. Closing that file would release the lock (POSIX record locks).
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LullError } from '../../../core/errors.ts'
import { isBusy } from '../failures.ts'
import type { Database, OpenDatabase } from './driver.ts'
import { makePrivate } from './open-database.ts'

export interface DirectoryLock {
  readonly release: () => void
}

/**
 * Paths of databases that this process has opened. A driver may keep a closed connection open until
 * its statements are garbage-collected.
 */
const openedHere = new Set<string>()
const POLL_MS = 50
/** How long a start waits for a read-only program, such as a backup. */
const READER_MS = 2_000

/**
 * @param beforeOpening runs while this process has the lock and has not opened `lull.db`; if it
 * throws, the lock is released
 * @throws LullError `STORE_LOCKED` when another process still has the lock after `waitMs`
 */
export async function lockDirectory(
  open: OpenDatabase,
  directory: string,
  waitMs: number,
  beforeOpening: () => void = () => undefined,
): Promise<DirectoryLock> {
  const ownerFile = join(directory, 'lull.owner')
  const deadline = Date.now() + waitMs
  for (;;) {
    const lock = tryLock(open, join(directory, 'lull.lock'))
    if (lock !== undefined) {
      let isOpen: boolean
      try {
        beforeOpening()
        isOpen = await isOpenElsewhere(open, join(directory, 'lull.db'))
      } catch (error) {
        lock.close()
        throw error
      }
      if (isOpen) {
        lock.close()
        const owner = `${readOwner(ownerFile)}; it has lull.db open`
        throw new LullError('STORE_LOCKED', { path: directory, owner })
      }
      openedHere.add(join(directory, 'lull.db'))
      writeOwner(ownerFile)
      return {
        release() {
          rmSync(ownerFile, { force: true })
          lock.close()
        },
      }
    }
    if (Date.now() >= deadline) {
      throw new LullError('STORE_LOCKED', { path: directory, owner: readOwner(ownerFile) })
    }
    await sleep(POLL_MS)
  }
}

/** Whether another process has locked the directory. Creates and changes nothing. */
export function isLocked(open: OpenDatabase, directory: string): boolean {
  const file = join(directory, 'lull.lock')
  if (!existsSync(file)) return false
  const lock = tryLock(open, file)
  lock?.close()
  return lock === undefined
}

/**
 * Whether another process has the database open. This detects a running process whose `lull.lock`
 * was deleted: its lock is on a file that no longer has a name. In WAL mode every connection holds
 * a shared lock on the database, so an exclusive lock cannot be taken.
 */
async function isOpenElsewhere(open: OpenDatabase, file: string): Promise<boolean> {
  const deadline = Date.now() + READER_MS
  while (hasReader(open, file)) {
    if (Date.now() >= deadline) return true
    await sleep(POLL_MS)
  }
  return false
}

function hasReader(open: OpenDatabase, file: string): boolean {
  if (openedHere.has(file) || !existsSync(file)) return false
  const db = open(file)
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE')
    // Uses `exec`, because a prepared statement that is not finalized would keep the lock after `close`.
    db.exec('SELECT count(*) FROM sqlite_schema')
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    db.close()
  }
}

function tryLock(open: OpenDatabase, file: string): Database | undefined {
  makePrivate(file)
  const db = open(file)
  try {
    db.exec('BEGIN EXCLUSIVE')
    return db
  } catch (error) {
    db.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

function writeOwner(file: string): void {
  try {
    const text = `pid ${process.pid} on ${hostname()}, since ${new Date().toISOString()}\n`
    writeFileSync(file, text, { mode: 0o600 })
  } catch {
    // The file is only information for people, so a full disk must not prevent the start.
  }
}

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return 'unknown'
  }
}
