import { accessSync, constants, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeError } from '../../core/describe-error.ts'
import { LullError } from '../../core/errors.ts'

/**
 * Makes the directory, and sees that everything in it can be written. Looked at first, because SQLite opens what it
 * may not write for reading only, without a word, and a lock on such a file locks nobody out.
 */
export function prepareDirectory(path: string): void {
  try {
    // Readable by its owner alone: it holds what people told their agents.
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

/** Says that the directory has held a complete database. */
const MARKER = 'lull.format'

/**
 * Refuses a directory whose database was emptied or removed. Without this, Lull would begin anew there and every task would
 * be gone without a word.
 */
export function refuseEmptied(path: string): void {
  const size = sizeOf(join(path, 'lull.db'))
  if (size !== undefined && size > 0) return
  const held = existsSync(join(path, MARKER)) || (sizeOf(join(path, 'lull.db-wal')) ?? 0) > 0
  if (!held) return
  const problem = size === undefined ? 'is missing' : 'is empty'
  const why =
    `lull.db in ${path} ${problem}, but other files there say that it held tasks; restore a backup, ` +
    'or choose another data directory'
  throw new LullError('STORE_UNAVAILABLE', { why })
}

/** To be called when the database is complete. */
export function markComplete(path: string): void {
  const file = join(path, MARKER)
  if (existsSync(file)) return
  writeFileSync(file, 'The tasks of this directory are in lull.db, a SQLite database.\n', {
    mode: 0o600,
  })
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size
}
