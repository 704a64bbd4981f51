/**
 * One process per data directory. The lock is an open transaction on a database of its own, `lull.lock`: the operating
 * system drops it with the process, however that ends, so there is nothing to clean up and nothing to guess.
 * It is not `lull.db` itself, so that backups can read that one meanwhile. `lull.owner` only tells people who has it.
 *
 * Never open `lull.lock` by other means in this process: closing the file would drop the lock (POSIX record locks).
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LullError } from '../../core/errors.ts'
import type { Database, OpenDatabase } from './driver.ts'
import { isBusy } from './failures.ts'

export interface DirectoryLock {
  readonly release: () => void
}

const POLL_MS = 50

/** @throws LullError `STORE_LOCKED` when another process still has it after `waitMs` */
export async function lockDirectory(
  open: OpenDatabase,
  directory: string,
  waitMs: number,
): Promise<DirectoryLock> {
  const ownerFile = join(directory, 'lull.owner')
  const deadline = Date.now() + waitMs
  for (;;) {
    const lock = tryLock(open, join(directory, 'lull.lock'))
    if (lock !== undefined) {
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

/** Whether another process has it. Makes nothing, and leaves everything as it was. */
export function isLocked(open: OpenDatabase, directory: string): boolean {
  const file = join(directory, 'lull.lock')
  if (!existsSync(file)) return false
  const lock = tryLock(open, file)
  lock?.close()
  return lock === undefined
}

function tryLock(open: OpenDatabase, file: string): Database | undefined {
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
    writeFileSync(file, `pid ${process.pid} on ${hostname()}, since ${new Date().toISOString()}\n`)
  } catch {
    // It is information only; a full disk is no reason not to open.
  }
}

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return 'unknown'
  }
}
