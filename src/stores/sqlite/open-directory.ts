/** Opens the database of a data directory, with the lock of the directory and the schema of this version. */
import { join } from 'node:path'
import { markComplete, prepareDirectory, refuseEmptied } from './data-directory.ts'
import { lockDirectory } from './directory-lock.ts'
import { type Database, loadDriver } from './driver.ts'
import { toStoreError } from './failures.ts'
import { migrate, readMigrations, requireCurrent } from './migrate.ts'
import { type DatabaseOptions, openDatabase } from './open-database.ts'

export interface OpenDirectory {
  readonly file: string
  readonly db: Database
  /** Frees the directory for other processes. To be called after the database was closed. */
  readonly release: () => void
}

/** @throws LullError `STORE_LOCKED`, or `STORE_UNAVAILABLE` with what to do about it */
export function openDirectory(
  path: string,
  waitForLockMs: number,
  options: DatabaseOptions,
): Promise<OpenDirectory> {
  return opened(path, waitForLockMs, options, (db) => {
    migrate(db, readMigrations(), Date.now())
    markComplete(path)
  })
}

/** The connection refuses every write. The directory exists. @throws as `openDirectory`, also when the schema is older */
export function openDirectoryToRead(path: string): Promise<OpenDirectory> {
  return opened(path, 0, { durability: 'full', maxBytes: undefined }, (db) => {
    db.exec('PRAGMA query_only = ON')
    requireCurrent(db, readMigrations())
  })
}

async function opened(
  path: string,
  waitForLockMs: number,
  options: DatabaseOptions,
  prepare: (db: Database) => void,
): Promise<OpenDirectory> {
  const cleanups: (() => void)[] = []
  try {
    const open = await loadDriver()
    prepareDirectory(path)
    const { release } = await lockDirectory(open, path, waitForLockMs)
    cleanups.unshift(release)
    refuseEmptied(path)
    const file = join(path, 'lull.db')
    const db = openDatabase(open, file, options)
    cleanups.unshift(() => db.close())
    prepare(db)
    return { file, db, release }
  } catch (error) {
    for (const cleanup of cleanups) cleanup()
    throw toStoreError(error)
  }
}
