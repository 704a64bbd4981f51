/** Opens the database of a data directory: locks the directory and migrates the schema. */
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { LullError } from '../../../core/errors.ts'
import { toStoreError } from '../failures.ts'
import { isEmpty, migrate, readMigrations, requireCurrent } from '../migrate.ts'
import { hasHeldTasks, markComplete, prepareDirectory, refuseMismatch } from './data-directory.ts'
import { lockDirectory } from './directory-lock.ts'
import { type Database, loadDriver } from './driver.ts'
import { type DatabaseOptions, makePrivate, openDatabase } from './open-database.ts'
import { finishStamp } from './stamp.ts'

export interface OpenDirectory {
  readonly file: string
  readonly db: Database
  /**
   * A descriptor of the file. It is closed by `release`, because closing it releases the locks of
   * this process.
   */
  readonly fd: number
  /** Unlocks the directory for other processes. Must be called after the database was closed. */
  readonly release: () => void
}

/** @throws LullError `STORE_LOCKED`, or `STORE_UNAVAILABLE` with what to do about it */
export function openDirectory(
  path: string,
  waitForLockMs: number,
  options: DatabaseOptions,
): Promise<OpenDirectory> {
  return openWith(path, waitForLockMs, options, (db) => {
    refuseWithoutTables(path, db)
    finishStamp(db)
    // Copies the log into the file, so that a copy of `lull.db` alone already has the tables.
    if (migrate(db, readMigrations(), Date.now())) db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    markComplete(path)
  })
}

/**
 * Opens with a connection that refuses every write. The directory must exist.
 * @throws as `openDirectory`, also when the schema is older
 */
export function openDirectoryToRead(path: string): Promise<OpenDirectory> {
  return openWith(path, 0, { durability: 'full', maxBytes: undefined }, (db) => {
    db.exec('PRAGMA query_only = ON')
    requireCurrent(db, readMigrations())
  })
}

/**
 * Opens without migrating the schema.
 * @param check replaces `refuseMismatch`
 * @throws as `openDirectory`
 */
export function openDirectoryToCheck(
  path: string,
  check?: (path: string) => void,
): Promise<OpenDirectory> {
  return openWith(path, 0, { durability: 'full', maxBytes: undefined }, () => undefined, check)
}

/**
 * Refuses a database without tables in a directory that has held tasks: probably a copy without its
 * write-ahead log.
 */
function refuseWithoutTables(path: string, db: Database): void {
  if (!hasHeldTasks(path) || !isEmpty(db)) return
  const why =
    `lull.db in ${path} has no tables, but lull.format beside it says that it held tasks: it was copied without ` +
    'its write-ahead log (lull.db-wal). Restore both files of one backup, or choose another data directory'
  throw new LullError('STORE_UNAVAILABLE', { why })
}

async function openWith(
  path: string,
  waitForLockMs: number,
  options: DatabaseOptions,
  prepare: (db: Database) => void,
  check: (path: string) => void = refuseMismatch,
): Promise<OpenDirectory> {
  const cleanups: (() => void)[] = []
  try {
    const open = await loadDriver()
    prepareDirectory(path)
    const lock = await lockDirectory(open, path, waitForLockMs, () => check(path))
    cleanups.unshift(lock.release)
    const file = join(path, 'lull.db')
    makePrivate(file)
    // Opened for writing, so that a layered file system copies the file now and not after this
    // descriptor was taken.
    const fd = openSync(file, 'r+')
    const release = (): void => {
      closeSync(fd)
      lock.release()
    }
    cleanups.splice(0, 1, release)
    const db = openDatabase(open, file, options)
    cleanups.unshift(() => db.close())
    prepare(db)
    return { file, db, fd, release }
  } catch (error) {
    for (const cleanup of cleanups) cleanup()
    throw toStoreError(error)
  }
}
