/**
 * The embedded store: one file, one process, one connection. Calls run synchronously on the caller's thread, which is
 * quicker than any hop to another one; the promises are there for stores that need them.
 */
import { join } from 'node:path'
import type { TaskStore } from '../../ports/task-store.ts'
import { prepareDirectory } from './data-directory.ts'
import { lockDirectory } from './directory-lock.ts'
import { type Database, loadDriver } from './driver.ts'
import { toStoreError } from './failures.ts'
import { migrate, readMigrations } from './migrate.ts'
import { openDatabase } from './open-database.ts'
import { storeOn } from './store-on.ts'

export interface SqliteStoreOptions {
  /** The data directory; made when it does not exist. The database is `lull.db` in it. */
  readonly path: string
  /** `relaxed` may lose the last commits on power loss (never on a crash of the process). Default: `full`. */
  readonly durability?: 'full' | 'relaxed'
  /** How long to wait for another process to leave the directory, say one that is stopping. Default: 0. */
  readonly waitForLockMs?: number
  /** Upper bound for the database file; reaching it is like a full disk. Default: none. */
  readonly maxBytes?: number
}

/** @throws LullError `STORE_LOCKED`, or `STORE_UNAVAILABLE` with what to do about it */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<TaskStore> {
  const { path, durability = 'full', waitForLockMs = 0, maxBytes } = options
  const cleanups: (() => void)[] = []
  try {
    const open = await loadDriver()
    prepareDirectory(path)
    const lock = await lockDirectory(open, path, waitForLockMs)
    cleanups.unshift(lock.release)
    const db: Database = openDatabase(open, join(path, 'lull.db'), { durability, maxBytes })
    cleanups.unshift(() => db.close())
    migrate(db, readMigrations(), Date.now())
    return storeOn(db, lock.release)
  } catch (error) {
    for (const cleanup of cleanups) cleanup()
    throw toStoreError(error)
  }
}
