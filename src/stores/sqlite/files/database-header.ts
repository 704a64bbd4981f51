/**
 * Reads the header of a SQLite database without SQLite: the content of the file itself, without its
 * write-ahead log.
 */

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
