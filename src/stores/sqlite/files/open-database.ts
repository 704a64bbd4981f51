import { closeSync, existsSync, openSync } from 'node:fs'
import { LullError } from '../../../core/errors.ts'
import type { Database, OpenDatabase } from './driver.ts'

export interface DatabaseOptions {
  /** `relaxed` may lose the last commits on power loss, never on a crash of the process. */
  readonly durability: 'full' | 'relaxed'
  /** The largest size of the file. Reaching it has the effect of a full disk. */
  readonly maxBytes: number | undefined
  /**
   * Writing fails while the write-ahead log is larger and another program keeps SQLite from
   * emptying it. Default: 1 GiB.
   */
  readonly maxLogBytes?: number | undefined
}

/** STRICT tables need SQLite 3.37, and `json_each` is built in since 3.38. */
const OLDEST_SQLITE = [3, 38] as const
/** Enough for the pages of active tasks and the upper levels of every index. */
const CACHE_KIB = 16_000
/**
 * 16 MB. Pages that change often are copied into the database a quarter as often as with SQLite's
 * default of 4 MB.
 */
const CHECKPOINT_PAGES = 4_000
/**
 * When SQLite restarts a write-ahead log that grew because of a long read, it truncates it to this
 * size.
 */
const LOG_KEPT_BYTES = 33_554_432
/**
 * How long the calling thread blocks for the write lock, which only another program (a backup, a
 * shell) can hold.
 */
export const BUSY_MS = 1_000

export function openDatabase(open: OpenDatabase, file: string, options: DatabaseOptions): Database {
  makePrivate(file)
  const db = open(file)
  try {
    checkVersion(db)
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    const { journal_mode: mode } = db.prepare('PRAGMA journal_mode = WAL').get() ?? {}
    if (mode !== 'wal') {
      const why = `the file system of ${file} does not allow SQLite's write-ahead log; use a local disk`
      throw new LullError('STORE_UNAVAILABLE', { why })
    }
    // Set explicitly, because builds of SQLite differ in their default. D1 of `ports/store.ts`
    // depends on it.
    db.exec(`PRAGMA synchronous = ${synchronousOf(options.durability)}`)
    // On macOS a plain fsync leaves data in the cache of the drive. On other systems this setting
    // has no effect.
    db.exec(`PRAGMA fullfsync = ${options.durability === 'full' ? 1 : 0}`)
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`)
    db.exec('PRAGMA temp_store = MEMORY')
    db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    db.exec(`PRAGMA journal_size_limit = ${LOG_KEPT_BYTES}`)
    if (options.maxBytes !== undefined) limit(db, options.maxBytes)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export function synchronousOf(durability: DatabaseOptions['durability']): 'FULL' | 'NORMAL' {
  return durability === 'full' ? 'FULL' : 'NORMAL'
}

/**
 * Creates the file with read permission for its owner only. SQLite gives the files beside it the
 * same permissions. An existing file is not opened, because closing it would release the locks of
 * every connection that this process has to it (POSIX record locks), and the next program that
 * reads the database would then remove the write-ahead log.
 */
export function makePrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
}

function limit(db: Database, maxBytes: number): void {
  const pageSize = Number(db.prepare('PRAGMA page_size').get()?.['page_size'])
  db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`)
}

function checkVersion(db: Database): void {
  const version = String(db.prepare('SELECT sqlite_version() AS version').get()?.['version'])
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [wantMajor, wantMinor] = OLDEST_SQLITE
  if (major > wantMajor || (major === wantMajor && minor >= wantMinor)) return
  const why = `SQLite ${version} is too old; ${OLDEST_SQLITE.join('.')} or newer is needed`
  throw new LullError('STORE_UNAVAILABLE', { why })
}
