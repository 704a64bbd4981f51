import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { LullError } from '../../../core/errors.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import {
  type DatabaseHeader,
  HEADER_BYTES,
  type LogContents,
  readHeader,
  readLog,
} from './file-format.ts'

/**
 * Creates the directory and checks that every file in it is writable. SQLite silently opens a file without write
 * permission for reading only, and a lock on such a file excludes no other process.
 */
export function prepareDirectory(path: string): void {
  try {
    // Only the owner may read the directory, because it contains the messages of users.
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    for (const file of ['lull.lock', 'lull.db', 'lull.db-wal', 'lull.db-shm']) {
      const whole = join(path, file)
      if (existsSync(whole)) accessSync(whole, constants.R_OK | constants.W_OK)
    }
  } catch (cause) {
    const reason = describeError(cause).message
    const why = `the data directory ${path} cannot be written to (${reason}); make it writable, or choose another one`
    throw new LullError('STORE_UNAVAILABLE', { why }, { cause })
  }
}

/** The file that marks a directory as having a complete database. */
const MARKER = 'lull.format'

/** Whether the directory once had a complete database. */
export function hasHeldTasks(path: string): boolean {
  return existsSync(join(path, MARKER))
}

/** Must be called after the migration. */
export function markComplete(path: string): void {
  const file = join(path, MARKER)
  if (existsSync(file)) return
  writeFileSync(file, 'The tasks of this directory are in lull.db, a SQLite database.\n', {
    mode: 0o600,
  })
}

/**
 * Refuses a data directory whose files do not come from one database at one time, before SQLite
 * opens them. SQLite would apply any write-ahead log to any database, and would silently start with
 * an incomplete copy.
 */
/**
 * Why the files do not belong together. `without-log` can be accepted, at the cost of what was in
 * the log.
 */
interface Mismatch {
  readonly kind: 'without-log' | 'other'
  readonly why: string
}

/** @throws LullError `STORE_UNAVAILABLE` with what is wrong and what to do about it */
export function refuseMismatch(path: string): void {
  const mismatch = findMismatch(path)
  if (mismatch === undefined) return
  throw new LullError('STORE_UNAVAILABLE', { why: mismatch.why })
}

/** The caller must have locked the directory, and must have no connection to its database. */
export function findMismatch(path: string): Mismatch | undefined {
  const file = join(path, 'lull.db')
  // The log is read before the database, because a process that ends copies its log into the
  // database and then deletes it.
  const log = readIfPresent(`${file}-wal`, readLog)
  const logBytes = sizeOf(`${file}-wal`)
  const bytes = sizeOf(file)
  if (bytes === undefined || bytes === 0) {
    if (!hasHeldTasks(path) && (logBytes ?? 0) === 0) return undefined
    const problem = bytes === undefined ? 'is missing' : 'is empty'
    const why =
      `lull.db in ${path} ${problem}, but other files there say that it held tasks; restore a backup, ` +
      'or choose another data directory'
    return { kind: 'other', why }
  }
  const header = readIfPresent(file, (fd) => {
    const start = Buffer.alloc(HEADER_BYTES)
    return readSync(fd, start, 0, HEADER_BYTES, 0) < HEADER_BYTES ? undefined : readHeader(start)
  })
  if (header === undefined) {
    const why = `lull.db in ${path} is not a SQLite database; restore a backup, or choose another data directory`
    return { kind: 'other', why }
  }
  return findMissingPages(path, bytes, header, log) ?? findWrongLog(path, header, log)
}

function findMissingPages(
  path: string,
  bytes: number,
  { pageSize, pageCount }: DatabaseHeader,
  log: LogContents | undefined,
): Mismatch | undefined {
  for (let page = Math.floor(bytes / pageSize) + 1; page <= pageCount; page++) {
    if (log?.pages.has(page) === true) continue
    const whole = pageSize * pageCount
    const why = `lull.db in ${path} is cut off: it has ${bytes} of ${whole} bytes; restore a backup`
    return { kind: 'other', why }
  }
  return undefined
}

function findWrongLog(
  path: string,
  { stamp }: DatabaseHeader,
  log: LogContents | undefined,
): Mismatch | undefined {
  // Stamp 0: a database of an earlier version, or one whose first write was not acknowledged.
  if (stamp === 0) return undefined
  const stamps = [...(log?.stamps ?? [])].map(Math.abs)
  if (stamps.includes(Math.abs(stamp))) return undefined
  const isEmpty = (log?.pages.size ?? 0) === 0
  const isComplete = stamp > 0
  if (isComplete && stamps.length === 0) return undefined
  if (isEmpty && log?.beganAnew === true) return undefined
  if (isEmpty) {
    const why =
      `lull.db in ${path} is a copy without its write-ahead log (lull.db-wal), which had the newest tasks; restore ` +
      'both files of one backup. If there is no other backup, `lull doctor --data <directory> --accept-loss` ' +
      'lets Lull start without what was in the log'
    return { kind: 'without-log', why }
  }
  const remedy = isComplete
    ? 'lull.db is complete by itself: move lull.db-wal away if lull.db is the backup you want'
    : 'restore both files of one backup'
  const why = `lull.db-wal in ${path} does not belong to lull.db: they are of different times or directories; ${remedy}`
  return { kind: 'other', why }
}

/**
 * Reads a file. Closing it releases all locks of this process on it, so the process must have no
 * connection to it.
 */
function readIfPresent<T>(file: string, read: (fd: number) => T): T | undefined {
  if (!existsSync(file)) return undefined
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch (error) {
    if (existsSync(file)) throw error
    return undefined
  }
  try {
    return read(fd)
  } finally {
    closeSync(fd)
  }
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size
}
