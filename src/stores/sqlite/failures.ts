/** What SQLite's errors mean for the operator, and whether they concern one write or all of them. */
import { isLullError, LullError } from '../../core/errors.ts'

/** Primary result codes (https://sqlite.org/rescode.html) that say: nothing can be written, whatever it is. */
const whyByCode: Readonly<Record<number, string>> = {
  3: 'access to the data directory is denied; give its user permission to read and write there',
  5: 'another program is writing to lull.db; end it, and writing goes on',
  6: 'another program is writing to lull.db; end it, and writing goes on',
  7: 'SQLite is out of memory',
  8: 'lull.db is read-only; make the data directory writable',
  10: 'the disk reported an error while reading or writing lull.db; look at the system log',
  11: 'lull.db is damaged; stop Lull and restore a backup',
  13: 'the disk is full; free some space, and writing goes on',
  14: 'lull.db cannot be opened; check that the data directory exists and is writable',
  26: 'lull.db is not a SQLite database; choose another data directory, or move the file away',
}

/** The error itself, unless it is about the store as a whole: then `STORE_UNAVAILABLE`, in a plain sentence. */
export function toStoreError(error: unknown): unknown {
  if (isLullError(error)) return error
  const why = whyOf(error)
  return why === undefined ? error : new LullError('STORE_UNAVAILABLE', { why }, { cause: error })
}

/** Whether the write failed because no write is possible now, rather than because of what it wrote. */
export function concernsAll(error: unknown): boolean {
  return whyOf(error) !== undefined
}

export function isBusy(error: unknown): boolean {
  return codeOf(error) === 5
}

/** Whether a row was refused because of one that is there (SQLITE_CONSTRAINT_UNIQUE): no more than that row is undone. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 2067
}

function whyOf(error: unknown): string | undefined {
  // The driver's own complaint about a connection or statement that was closed.
  if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE') {
    return 'the store is closed'
  }
  const code = codeOf(error)
  return code === undefined ? undefined : whyByCode[code]
}

function codeOf(error: unknown): number | undefined {
  const full = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  // Extended codes keep the primary one in the low byte.
  return typeof full === 'number' ? full & 0xff : undefined
}
