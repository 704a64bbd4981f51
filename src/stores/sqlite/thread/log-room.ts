/**
 * Room at the end of the write-ahead log. A commit that makes the file longer has to wait for its new length as well, nearly
 * twice as long. So the file is made longer beforehand, by many commits at once and between two of them, until it is as long
 * as it gets. SQLite takes zeros for the end of the log: they are no frame of it.
 */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import type { Database } from '../driver.ts'

export interface LogRoom {
  /** To be called when nothing is being written. */
  keep(): void
  close(): void
}

const PIECE = Buffer.alloc(1024 * 1024)

/** @param enough how long it gets, in bytes: from then on it is written from the beginning */
export function createLogRoom(db: Database, database: string, enough: number): LogRoom {
  let file: number | undefined
  let size = 0

  /** Nobody writes meanwhile, not even a program that is not ours. */
  function lengthen(log: number): void {
    db.exec('BEGIN IMMEDIATE')
    try {
      const end = fstatSync(log).size
      size = end + writeSync(log, PIECE, 0, PIECE.length, end)
    } finally {
      db.exec('ROLLBACK')
    }
  }

  function close(): void {
    if (file !== undefined) closeSync(file)
    file = undefined
  }

  return {
    keep() {
      if (size >= enough) return
      try {
        file ??= openSync(`${database}-wal`, 'r+')
        if (fstatSync(file).size > size) lengthen(file)
        if (size >= enough) close()
      } catch {
        // It is a comfort: whatever keeps it from being given, a commit will say.
        size = enough
        close()
      }
    },
    close,
  }
}
