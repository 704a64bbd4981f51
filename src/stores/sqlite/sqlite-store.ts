/** The embedded store: one file, one process. Reads run on the caller's thread, writes on a separate thread. */

import type { LullError } from '../../core/errors.ts'
import type { Store } from '../../ports/store.ts'
import { createClaimFilter } from './claims/claim-filter.ts'
import { createDatabaseStore } from './database-store.ts'
import { toStoreError } from './failures.ts'
import { watchFiles } from './files/file-watch.ts'
import { guardWrites } from './files/guarded-writes.ts'
import type { DatabaseOptions } from './files/open-database.ts'
import { openDirectory, openDirectoryToRead } from './files/open-directory.ts'
import { createThreadedStore } from './thread/threaded-store.ts'
import { canLoad, startWriter } from './thread/writer.ts'

export interface SqliteStoreOptions {
  /** The data directory. It is created when it does not exist. The database is `lull.db` in it. */
  readonly path: string
  /** `relaxed` may lose the last commits on power loss (never on a crash of the process). Default: `full`. */
  readonly durability?: 'full' | 'relaxed'
  /**
   * How long to wait while another process uses the directory, for example one that is stopping.
   * Default: 0.
   */
  readonly waitForLockMs?: number
  /** The largest size of the database file. Reaching it has the effect of a full disk. Default: none. */
  readonly maxBytes?: number
  /**
   * The largest size of the write-ahead log. It grows while another program reads in one long transaction; at this size writing fails until
   * that program ends. Default: 1 GiB.
   */
  readonly maxLogBytes?: number
  /**
   * Whether writes run on a separate thread. Default: true, but false when Lull runs from its TypeScript sources, which a
   * thread cannot load on Node 20.
   */
  readonly thread?: boolean
  /**
   * Called when the writing thread has ended unexpectedly, or the files were removed, replaced or
   * truncated: every write fails until the process is restarted.
   */
  readonly lost?: (error: LullError<'STORE_UNAVAILABLE'>) => void
}

/** @throws LullError `STORE_LOCKED`, or `STORE_UNAVAILABLE` with what to do about it */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, durability = 'full', waitForLockMs = 0, maxBytes, thread = canLoad, lost } = options
  const settings: DatabaseOptions = { durability, maxBytes, maxLogBytes: options.maxLogBytes }
  const { file, db, fd, release } = await openDirectory(path, waitForLockMs, settings)
  try {
    const filter = createClaimFilter(db)
    const store = createDatabaseStore(db, release, filter)
    if (!thread) return guardWrites(store, db, watchFiles(fd, file, lost), settings)
    return createThreadedStore(store, filter, await startWriter({ file, fd, ...settings }, lost))
  } catch (error) {
    db.close()
    release()
    throw toStoreError(error)
  }
}

/**
 * Opens the store of a data directory for a read-only program. Every write fails.
 * @throws LullError `STORE_LOCKED`, or `STORE_UNAVAILABLE`, also when the schema is older than this
 * version
 */
export async function openSqliteReader(path: string): Promise<Store> {
  const { db, release } = await openDirectoryToRead(path)
  try {
    return createDatabaseStore(db, release)
  } catch (error) {
    db.close()
    release()
    throw toStoreError(error)
  }
}
