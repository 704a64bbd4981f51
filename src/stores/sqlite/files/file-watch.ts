/**
 * Notices that `lull.db` or its write-ahead log was removed, replaced or cut off while it is open. SQLite itself goes on writing to a file
 * without a name, and all of that is gone with the process.
 *
 *  F1  A write is acknowledged only after both files were found in place.
 *  F2  What was found once is final: only a restart helps.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { LullError } from '../../../core/errors.ts'
import { type DatabaseHeader, HEADER_BYTES, readHeader } from './database-header.ts'

export interface FileWatch {
  /** To be called before a write. @throws LullError `STORE_UNAVAILABLE` (F2) */
  before(): void
  /** To be called after a write. @throws LullError `STORE_UNAVAILABLE` (F2) */
  after(): void
  /** The stamp in the file; see `stamp.ts`. */
  stampInFile(): number
  /** The size of the write-ahead log when it was last looked at. */
  logBytes(): number
  close(): void
}

const LOG_MAGIC = [0x377f0682, 0x377f0683]

/** @param fd a descriptor of `lull.db` that is closed after every connection of this process (see `makePrivate`) */
export function watchFiles(
  fd: number,
  file: string,
  onLost: (error: LullError<'STORE_UNAVAILABLE'>) => void = () => undefined,
): FileWatch {
  const log = `${file}-wal`
  const start = Buffer.alloc(HEADER_BYTES)
  let lost: LullError<'STORE_UNAVAILABLE'> | undefined
  let bytes = 0
  let header: DatabaseHeader | undefined
  let logFd: number | undefined
  let logInode: number | undefined
  let logBytes = 0

  function lose(name: string, what: string): never {
    const why = `${name} ${what} while Lull runs; nothing more is written. Stop Lull, restore a backup, and start it again`
    lost = new LullError('STORE_UNAVAILABLE', { why, restart: true })
    onLost(lost)
    throw lost
  }

  function checkDatabase(): void {
    const named = statSync(file, { throwIfNoEntry: false })
    if (named === undefined) lose(file, 'was removed')
    const { ino, size } = fstatSync(fd)
    if (named.ino !== ino) lose(file, 'was replaced by another file')
    header = readSync(fd, start, 0, HEADER_BYTES, 0) < HEADER_BYTES ? undefined : readHeader(start)
    if (header === undefined) lose(file, 'was cut off or overwritten')
    // A checkpoint of another program writes the first page before the others, and so has a file that still grows.
    if (size < bytes && size < header.pageCount * header.pageSize) lose(file, 'was cut off')
    bytes = size
  }

  function checkLog(): void {
    const named = statSync(log, { throwIfNoEntry: false })
    if (named === undefined) {
      if (logInode !== undefined) lose(log, 'was removed')
      return
    }
    if (logFd === undefined) {
      logFd = openSync(log, 'r')
      logInode = fstatSync(logFd).ino
    }
    if (named.ino !== logInode) lose(log, 'was replaced by another file')
    logBytes = named.size
  }

  /** SQLite begins a log that another program has emptied anew, and goes on behind what was there in a log that was cut off. */
  function checkLogHeader(): void {
    if (logFd === undefined || logBytes === 0) return
    readSync(logFd, start, 0, 4, 0)
    if (!LOG_MAGIC.includes(start.readUInt32BE(0))) lose(log, 'was cut off or overwritten')
  }

  return {
    before() {
      if (lost !== undefined) throw lost
      // `after` looks at the database. Only the size of the log says nothing any more when it was written to.
      const known = logBytes
      checkLog()
      if (logBytes < known && logBytes > 0) lose(log, 'was cut off')
    },
    after() {
      if (lost !== undefined) throw lost
      checkDatabase()
      checkLog()
      checkLogHeader()
    },
    stampInFile: () => header?.stamp ?? 0,
    logBytes: () => logBytes,
    close() {
      if (logFd !== undefined) closeSync(logFd)
      logFd = undefined
    },
  }
}
