/**
 * Wraps every write of a store on a file: the files are checked before the write and before it is
 * acknowledged, and the write-ahead log stays within bounds.
 */
import { LullError } from '../../../core/errors.ts'
import { type DatabaseStore, methodsThat } from '../database-store.ts'
import type { Database } from './driver.ts'
import type { FileWatch } from './file-watch.ts'
import { BUSY_MS, type DatabaseOptions } from './open-database.ts'
import { createStamp } from './stamp.ts'

/**
 * How far the write-ahead log may grow while a reader in another program keeps SQLite from
 * restarting it.
 */
const MOST_LOG_BYTES = 1_073_741_824

type Method = (...args: readonly unknown[]) => Promise<unknown>

/** @param db the connection that the store uses */
export function guardWrites(
  store: DatabaseStore,
  db: Database,
  files: FileWatch,
  { durability, maxLogBytes = MOST_LOG_BYTES }: DatabaseOptions,
): DatabaseStore {
  const stamp = createStamp(db, files.stampInFile, durability)
  let closed = false

  function before(): void {
    // A closed store refuses the write by itself.
    if (closed) return
    files.before()
    stamp.finish()
    if (files.logBytes() > maxLogBytes) shorten()
  }

  /** @throws LullError `STORE_UNAVAILABLE` while another program reads */
  function shorten(): void {
    db.exec('PRAGMA busy_timeout = 0')
    const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    if (busy === 0) return
    const why =
      'another program reads lull.db in one transaction for too long, and the write-ahead log has reached ' +
      `${maxLogBytes} bytes; end that program, and writing goes on`
    throw new LullError('STORE_UNAVAILABLE', { why })
  }

  function after(): void {
    if (closed) return
    files.after()
    let renewed: boolean
    try {
      renewed = stamp.renew()
    } catch {
      // The write is durable, so it must not fail here. The next write finds a disk that refuses
      // writes, and renews the stamp.
      return
    }
    if (renewed) files.after()
  }

  const guarded =
    (method: Method): Method =>
    async (...args) => {
      before()
      const result = await method(...args)
      after()
      return result
    }

  const writes = [...methodsThat('writes'), 'write' as const].map((name) => [
    name,
    guarded(store[name] as Method),
  ])
  return {
    ...store,
    ...Object.fromEntries(writes),
    async close() {
      closed = true
      await store.close()
      files.close()
    },
  }
}
