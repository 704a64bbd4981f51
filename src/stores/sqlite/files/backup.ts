/**
 * Copies the database of a data directory into one file, also while another process writes to it.
 *
 * B1  The copy is the database at one instant (`VACUUM INTO` reads in one transaction). Everything
 *     that was acknowledged before the backup began is in it. Writers do not wait.
 * B2  The file gets its name only when it is complete and on the disk. Until then it is named
 *     `.part`, so a backup that was cut off is never taken for a whole one.
 * B3  The copy is complete by itself: it starts as `lull.db` of an empty directory.
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isLullError, LullError } from '../../../core/errors.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import { toStoreError } from '../failures.ts'
import { type Database, loadDriver } from './driver.ts'
import { BUSY_MS } from './open-database.ts'
import { openDirectoryToCheck } from './open-directory.ts'
import { finishStamp } from './stamp.ts'

interface Backup {
  readonly file: string
  readonly bytes: number
  readonly tasks: number
}

/**
 * @param replace allows `to` to exist. It is replaced when the new backup is complete.
 * @throws LullError `INVALID_INPUT` for a wrong target, or `STORE_UNAVAILABLE`
 */
export async function backUpDirectory(path: string, to: string, replace = false): Promise<Backup> {
  const file = resolve(to)
  checkTarget(file, replace)
  const source = await openSource(path)
  const part = `${file}.${process.pid}.part`
  try {
    makeEmpty(part)
    source.db.prepare('VACUUM INTO ?').run(part)
    const tasks = await checkCopy(part)
    sync(part)
    checkTarget(file, replace)
    renameSync(part, file)
    sync(dirname(file))
    return { file, bytes: statSync(file).size, tasks }
  } catch (error) {
    rmSync(part, { force: true })
    throw failed(file, error)
  } finally {
    source.close()
  }
}

function checkTarget(file: string, replace: boolean): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined && existsSync(dirname(file))) return
  if (found?.isFile() === true && replace) return
  const problem =
    found === undefined
      ? `its directory does not exist: ${dirname(file)}`
      : found.isFile()
        ? 'exists; name a new file, or replace it with --force'
        : 'is a directory; name a file in it'
  throw new LullError('INVALID_INPUT', { path: file, problem })
}

interface Source {
  readonly db: Database
  close(): void
}

/** Locks the directory, unless a process has it: then the database is read beside that process. */
async function openSource(path: string): Promise<Source> {
  const file = join(path, 'lull.db')
  if (!existsSync(file)) {
    const why = `there is no lull.db in ${resolve(path)}; name the data directory (--data, LULL_DATA)`
    throw new LullError('STORE_UNAVAILABLE', { why })
  }
  try {
    const { db, release } = await openDirectoryToCheck(path)
    return {
      db,
      close() {
        db.close()
        release()
      },
    }
  } catch (error) {
    if (!isLullError(error, 'STORE_LOCKED')) throw error
    const db = (await loadDriver())(file)
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    return { db, close: () => db.close() }
  }
}

/** Readable by its owner alone, like the database. SQLite writes into an empty file that exists. */
function makeEmpty(file: string): void {
  closeSync(openSync(file, 'w', 0o600))
}

/** @returns the number of tasks */
async function checkCopy(file: string): Promise<number> {
  const db = (await loadDriver())(file)
  try {
    const [first] = db.prepare('PRAGMA quick_check(1)').all()
    const found = String(first?.['quick_check'])
    if (found !== 'ok') {
      throw new LullError('STORE_UNAVAILABLE', { why: `the copy is damaged (${found})` })
    }
    // The copy may be of the instant between the two halves of a new stamp.
    finishStamp(db)
    return Number(db.prepare('SELECT count(*) AS n FROM tasks').get()?.['n'])
  } finally {
    db.close()
  }
}

function sync(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function failed(file: string, error: unknown): unknown {
  if (isLullError(error, 'INVALID_INPUT')) return error
  const known = toStoreError(error)
  const reason = isLullError(known, 'STORE_UNAVAILABLE')
    ? known.details.why
    : describeError(error).message
  const why = `no backup was made at ${file}: ${reason}`
  return new LullError('STORE_UNAVAILABLE', { why }, { cause: error })
}
