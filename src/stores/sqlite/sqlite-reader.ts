import type { Store } from '../../ports/store.ts'
import { createDatabaseStore } from './database-store.ts'
import { toStoreError } from './failures.ts'
import { openDirectoryToRead } from './files/open-directory.ts'

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
