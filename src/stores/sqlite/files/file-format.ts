/**
 * Reads `lull.db` and its write-ahead log without SQLite, which would apply the log to the database
 * (https://sqlite.org/fileformat.html, https://sqlite.org/walformat.html).
 */

import { readSync } from 'node:fs'

export interface DatabaseHeader {
  readonly pageSize: number
  /**
   * The number of pages of the database. The file may have fewer while SQLite copies the
   * write-ahead log into it.
   */
  readonly pageCount: number
  /** SQLite's `user_version`; see `stamp.ts`. */
  readonly stamp: number
}

export const HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'

/** Undefined when the bytes are not the beginning of a SQLite database. */
export function readHeader(bytes: Buffer): DatabaseHeader | undefined {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    return undefined
  }
  const size = bytes.readUInt16BE(16)
  return {
    // A page size of 65,536 does not fit into two bytes, and is stored as 1.
    pageSize: size === 1 ? 65_536 : size,
    pageCount: bytes.readUInt32BE(28),
    stamp: bytes.readInt32BE(60),
  }
}

/** The committed content of a write-ahead log. */
export interface LogContents {
  /** The stamps in all committed copies of the first page. */
  readonly stamps: ReadonlySet<number>
  /** The pages that were committed. */
  readonly pages: ReadonlySet<number>
  /**
   * SQLite has copied everything in the file, has restarted it, and has committed nothing since.
   */
  readonly beganAnew: boolean
}

const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The lowest bit says whether checksums use big-endian words. */
const LOG_MAGIC = 0x377f0682
const PAGE_SIZES = { least: 512, most: 65_536 }
const nothing: LogContents = { stamps: new Set(), pages: new Set(), beganAnew: false }

type Sums = readonly [number, number]

/**
 * Reads what SQLite would read. Frames of an earlier use of the file, and everything after the last
 * commit, are ignored.
 * @param fd an open file. One that is not a write-ahead log has no contents.
 */
export function readLog(fd: number): LogContents {
  const header = Buffer.alloc(LOG_HEADER_BYTES)
  if (readSync(fd, header, 0, LOG_HEADER_BYTES, 0) < LOG_HEADER_BYTES) return nothing
  const magic = header.readUInt32BE(0)
  const pageSize = header.readUInt32BE(8)
  const isLog = magic >>> 1 === LOG_MAGIC >>> 1
  if (!isLog || pageSize < PAGE_SIZES.least || pageSize > PAGE_SIZES.most) return nothing
  const isBig = (magic & 1) === 1
  let sums = addSums([0, 0], header.subarray(0, 24), isBig)
  if (!hasSums(header, 24, sums)) return nothing

  const stamps = new Set<number>()
  const pages = new Set<number>()
  let pending: { readonly page: number; readonly stamp: number | undefined }[] = []
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageSize)
  const isRead = (n: number): boolean =>
    readSync(fd, frame, 0, frame.length, LOG_HEADER_BYTES + n * frame.length) === frame.length
  for (let n = 0; isRead(n); n++) {
    if (frame.compare(header, 16, 24, 8, 16) !== 0) break
    sums = addSums(sums, frame.subarray(0, 8), isBig)
    sums = addSums(sums, frame.subarray(FRAME_HEADER_BYTES), isBig)
    if (!hasSums(frame, 16, sums)) break
    const page = frame.readUInt32BE(0)
    const stamp = page === 1 ? readHeader(frame.subarray(FRAME_HEADER_BYTES))?.stamp : undefined
    pending.push({ page, stamp })
    const isCommit = frame.readUInt32BE(4) > 0
    if (!isCommit) continue
    for (const one of pending) {
      pages.add(one.page)
      if (one.stamp !== undefined) stamps.add(one.stamp)
    }
    pending = []
  }
  const beganAnew = pages.size === 0 && isRead(0) && followsEarlierUse(header, frame)
  return { stamps, pages, beganAnew }
}

/**
 * SQLite increments the first salt when it restarts a file. Until they are overwritten, frames of
 * the earlier use follow the header.
 */
function followsEarlierUse(header: Buffer, frame: Buffer): boolean {
  const step = (header.readUInt32BE(16) - frame.readUInt32BE(8)) >>> 0
  return step <= 1
}

function addSums([first, second]: Sums, bytes: Buffer, isBig: boolean): Sums {
  let a = first
  let b = second
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (isBig ? bytes.readInt32BE(at) : bytes.readInt32LE(at)) + b) | 0
    b = (b + (isBig ? bytes.readInt32BE(at + 4) : bytes.readInt32LE(at + 4)) + a) | 0
  }
  return [a, b]
}

function hasSums(bytes: Buffer, at: number, [first, second]: Sums): boolean {
  return bytes.readInt32BE(at) === first && bytes.readInt32BE(at + 4) === second
}
