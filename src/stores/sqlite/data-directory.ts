import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
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
