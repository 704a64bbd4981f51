/**
 * Refuses a data directory whose files do not come from one database at one time, before SQLite
 * opens them. SQLite would apply any write-ahead log to any database, and would silently start with
 * an incomplete copy.
 */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { LullError } from '../../../core/errors.ts'
import { hasHeldTasks } from './data-directory.ts'
import { type DatabaseHeader, HEADER_BYTES, readHeader } from './database-header.ts'
import { type LogContents, readLog } from './write-ahead-log.ts'

/**
 * Why the files do not belong together. `without-log` can be accepted, at the cost of what was in
 * the log.
 */
export interface Mismatch {
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
  const log = reading(`${file}-wal`, readLog)
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
  const header = reading(file, (fd) => {
    const start = Buffer.alloc(HEADER_BYTES)
    return readSync(fd, start, 0, HEADER_BYTES, 0) < HEADER_BYTES ? undefined : readHeader(start)
  })
  if (header === undefined) {
    const why = `lull.db in ${path} is not a SQLite database; restore a backup, or choose another data directory`
    return { kind: 'other', why }
  }
  return missingPages(path, bytes, header, log) ?? wrongLog(path, header, log)
}

function missingPages(
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

function wrongLog(
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
function reading<T>(file: string, read: (fd: number) => T): T | undefined {
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
