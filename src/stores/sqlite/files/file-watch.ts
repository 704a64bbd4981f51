/**
 * Detects that `lull.db` or its write-ahead log was removed, replaced or truncated while it is
 * open. SQLite would keep writing to the deleted file, and everything written would be lost when
 * the process ends.
 *
 *  F1  A write is acknowledged only after both files were found in place.
 *  F2  A detected problem is final: only a restart of the process helps.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { LullError } from '../../../core/errors.ts'
import { type DatabaseHeader, HEADER_BYTES, readHeader } from './file-format.ts'

export interface FileWatch {
  /**
   * Must be called before a write.
   * @throws LullError `STORE_UNAVAILABLE` (F2)
   */
  before(): void
  /**
   * Must be called after a write.
   * @throws LullError `STORE_UNAVAILABLE` (F2)
   */
  after(): void
  /** The stamp in the file; see `stamp.ts`. */
  stampInFile(): number
  /** The size of the write-ahead log at the last check. */
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
  const { ino } = fstatSync(fd)
  let lost: LullError<'STORE_UNAVAILABLE'> | undefined
  let bytes = 0
  let header: DatabaseHeader | undefined
  let openLog: { readonly fd: number; readonly ino: number } | undefined
  let logBytes = 0

  function lose(name: string, what: string): never {
    const why = `${name} ${what} while Lull runs; nothing more is written. Stop Lull, restore a backup, and start it again`
    lost = new LullError('STORE_UNAVAILABLE', { why, restart: true })
    onLost(lost)
    throw lost
  }

  // Both files are looked up by name: the descriptor of a file that was moved away shows no change.
  function checkDatabase(): void {
    const named = statSync(file, { throwIfNoEntry: false })
    if (named === undefined) lose(file, 'was removed')
    if (named.ino !== ino) lose(file, 'was replaced by another file')
    header = readSync(fd, start, 0, HEADER_BYTES, 0) < HEADER_BYTES ? undefined : readHeader(start)
    if (header === undefined) lose(file, 'was cut off or overwritten')
    const { size } = named
    // A file that is smaller than its header says is no fault while it grows: a checkpoint of
    // another program writes the first page before the others.
    if (size < bytes && size < header.pageCount * header.pageSize) lose(file, 'was cut off')
    bytes = size
  }

  function checkLog(): void {
    const named = statSync(log, { throwIfNoEntry: false })
    if (named === undefined) {
      if (openLog !== undefined) lose(log, 'was removed')
      return
    }
    if (openLog === undefined) {
      const opened = openSync(log, 'r')
      openLog = { fd: opened, ino: fstatSync(opened).ino }
    }
    if (named.ino !== openLog.ino) lose(log, 'was replaced by another file')
    logBytes = named.size
  }

  /**
   * If another program has emptied the log, SQLite begins it anew. If the log was truncated, SQLite
   * continues after the missing part, and the header is lost.
   */
  function checkLogHeader(): void {
    if (openLog === undefined || logBytes === 0) return
    readSync(openLog.fd, start, 0, 4, 0)
    if (!LOG_MAGIC.includes(start.readUInt32BE(0))) lose(log, 'was cut off or overwritten')
  }

  return {
    before() {
      if (lost !== undefined) throw lost
      if (openLog === undefined) return
      // Only the size of the log is checked here: `after` checks the rest. Once the log was written
      // to, its size alone proves nothing.
      const { size } = fstatSync(openLog.fd)
      if (size < logBytes && size > 0) lose(log, 'was cut off')
      logBytes = size
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
      if (openLog !== undefined) closeSync(openLog.fd)
      openLog = undefined
    },
  }
}
