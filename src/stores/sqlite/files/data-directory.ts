import { accessSync, constants, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LullError } from '../../../core/errors.ts'
import { describeError } from '../../../core/values/describe-error.ts'

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
