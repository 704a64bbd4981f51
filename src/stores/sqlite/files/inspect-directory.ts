/** Inspects a data directory for `lull doctor`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isLullError, LullError } from '../../../core/errors.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import { findMismatch, hasHeldTasks } from './data-directory.ts'
import { openDirectoryToCheck } from './open-directory.ts'
import { finishStamp } from './stamp.ts'

/**
 * `unused`: there is no database yet. `in-use`: a process has locked it; its own health check says
 * whether it works.
 */
export type DirectoryState =
  | { readonly kind: 'unused' }
  | { readonly kind: 'in-use'; readonly owner: string }
  | { readonly kind: 'whole'; readonly tasks: number }
  | { readonly kind: 'broken'; readonly why: string }

const DAMAGED = 'lull.db is damaged; restore a backup'

/**
 * Reads the whole database. Nothing changes, except that SQLite copies the write-ahead log into the
 * database.
 */
export async function inspectDirectory(path: string): Promise<DirectoryState> {
  const files = ['lull.db', 'lull.db-wal'].map((file) => join(path, file))
  if (!files.some((file) => existsSync(file)) && !hasHeldTasks(path)) return { kind: 'unused' }
  try {
    const { db, release } = await openDirectoryToCheck(path)
    try {
      const [first] = db.prepare('PRAGMA integrity_check(1)').all()
      const found = String(first?.['integrity_check'])
      if (found !== 'ok') return { kind: 'broken', why: `${DAMAGED} (${found})` }
      const tasks = Number(db.prepare('SELECT count(*) AS n FROM tasks').get()?.['n'])
      return { kind: 'whole', tasks }
    } finally {
      db.close()
      release()
    }
  } catch (error) {
    if (isLullError(error, 'STORE_LOCKED')) return { kind: 'in-use', owner: error.details.owner }
    if (isLullError(error, 'STORE_UNAVAILABLE')) return { kind: 'broken', why: error.details.why }
    return { kind: 'broken', why: `${DAMAGED} (${describeError(error).message})` }
  }
}

/**
 * Lets Lull start with a copy of `lull.db` that was made without its write-ahead log. Returns
 * whether it was such a copy.
 * @throws LullError `STORE_LOCKED`, or `STORE_UNAVAILABLE` when the copy is damaged
 */
export async function acceptLoss(path: string): Promise<boolean> {
  if (!existsSync(join(path, 'lull.db'))) return false
  let isCopy = false
  const { db, release } = await openDirectoryToCheck(path, () => {
    isCopy = findMismatch(path)?.kind === 'without-log'
  })
  try {
    if (!isCopy) return false
    const [first] = db.prepare('PRAGMA integrity_check(1)').all()
    if (first?.['integrity_check'] !== 'ok') {
      throw new LullError('STORE_UNAVAILABLE', { why: DAMAGED })
    }
    finishStamp(db)
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return true
  } finally {
    db.close()
    release()
  }
}
