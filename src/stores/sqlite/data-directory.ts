import { accessSync, constants, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeError } from '../../core/describe-error.ts'
import { LullError } from '../../core/errors.ts'

/**
 * Creates the directory and checks that every file in it is writable. SQLite silently opens a file without write
 * permission for reading only, and a lock on such a file excludes no other process.
 */
export function prepareDirectory(path: string): void {
  try {
    // Readable by its owner alone, because it holds the messages of users.
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

/** The file that marks a directory with a complete database. */
const MARKER = 'lull.format'

/**
 * Refuses a directory whose database was emptied or removed. Otherwise Lull would silently start with an empty database.
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

/** To be called after migration. */
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
