/**
 * The meaning of each SQLite failure. It concerns either the content of one write, which would fail
 * again, or the store, which then refuses every write. The table lists every primary result code
 * (https://sqlite.org/rescode.html).
 */

import { isLullError, LullError } from '../../core/errors.ts'

/** The write cannot be stored, but the store works. */
const content = Symbol('content')

const meaning: Readonly<Record<number, string | typeof content>> = {
  1: 'SQLite refused a statement; the schema of lull.db is not the one this version of Lull expects',
  2: 'SQLite reported an internal error; restart Lull',
  3: 'access to the data directory is denied; give its user permission to read and write there',
  4: 'SQLite aborted the write',
  5: 'another program is writing to lull.db; end it, and writing goes on',
  6: 'another program is writing to lull.db; end it, and writing goes on',
  7: 'SQLite is out of memory',
  8: 'lull.db is read-only; make the data directory writable',
  9: 'SQLite was interrupted',
  10: 'the disk reported an error while reading or writing lull.db; look at the system log',
  11: 'lull.db is damaged; stop Lull and restore a backup',
  12: 'SQLite does not know an operation it was asked for',
  13: 'the disk is full; free some space, and writing goes on',
  14: 'lull.db cannot be opened; check that the data directory exists and is writable, and that the process may open more files',
  15: 'the locks of lull.db do not work; use a local disk',
  16: 'SQLite found nothing where something was expected',
  17: 'the schema of lull.db was changed by another program; restart Lull',
  18: content,
  19: content,
  20: content,
  21: 'SQLite was called in a way it does not allow',
  22: 'the file system cannot hold a file as large as lull.db',
  23: 'SQLite denied a statement',
  24: 'lull.db has a format that SQLite does not know',
  25: content,
  26: 'lull.db is not a SQLite database; choose another data directory, or move the file away',
  27: 'SQLite reported a notice in place of a result',
  28: 'SQLite reported a warning in place of a result',
}

/**
 * SQLite's own texts (`sqlite3_errstr`), for errors without a code: @photostructure/sqlite gives
 * none if a query fails after its first row.
 */
const codeByText: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'out of memory': 7,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'file is not a database': 26,
}

/** Codes that say the file itself cannot be read: disk error, damaged, not a database. */
const unreadable: ReadonlySet<number> = new Set([10, 11, 26])

/** System error codes for too many open files, in the process or on the machine. */
const noFiles: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE'])
/** System error codes for a file that does not exist. */
const gone: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR'])

/** Converts a failure of the store as a whole to `STORE_UNAVAILABLE` with a sentence for operators. Others are returned as they are. */
export function toStoreError(error: unknown): unknown {
  if (isLullError(error)) return error
  const why = whyOf(error)
  return why === undefined ? error : new LullError('STORE_UNAVAILABLE', { why }, { cause: error })
}

/** Whether the failure is about the store as a whole rather than about the content of one write. */
export function concernsStore(error: unknown): boolean {
  return whyOf(error) !== undefined
}

/** Whether the database file cannot be read. */
export function isUnreadable(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && unreadable.has(code)
}

export function isBusy(error: unknown): boolean {
  return codeOf(error) === 5
}

/**
 * Whether a unique index refused a row (SQLITE_CONSTRAINT_UNIQUE). SQLite undoes only that
 * statement.
 */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 2067
}

function whyOf(error: unknown): string | undefined {
  // The driver's code for a connection or statement that was closed.
  if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE') {
    return 'the store is closed'
  }
  if (error instanceof Error && 'code' in error && noFiles.has(error.code)) {
    return 'the process may not open enough files; raise its limit (ulimit -n)'
  }
  if (error instanceof Error && 'code' in error && gone.has(error.code)) {
    return 'lull.db or its directory was removed while Lull runs; stop Lull, restore a backup, and start it again'
  }
  const code = codeOf(error)
  if (code === undefined) return undefined
  const known = meaning[code] ?? `SQLite reported error ${code}`
  return known === content ? undefined : known
}

function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const full = 'errcode' in error ? error.errcode : codeByText[error.message]
  // The low byte of an extended result code is the primary code.
  return typeof full === 'number' ? full & 0xff : undefined
}

interface Guard {
  /** Wraps a method: driver errors become `STORE_UNAVAILABLE`, and every error a rejection. */
  guarded<A extends readonly unknown[], R>(method: (...args: A) => R): (...args: A) => Promise<R>
  /** Throws if a call has found the file damaged. Only a restart of the process resets this. */
  checkUndamaged(): void
}

export function createGuard(): Guard {
  let damage: unknown
  return {
    guarded:
      (method) =>
      async (...args) => {
        try {
          return method(...args)
        } catch (error) {
          const failure = toStoreError(error)
          if (isUnreadable(error)) damage = failure
          throw failure
        }
      },
    checkUndamaged() {
      if (damage !== undefined) throw damage
    },
  }
}
