/**
 * SSE ids, `sequence.n`: the nth frame of the record with that sequence number. A snapshot taken at version v has the id
 * `(v+1).0`: everything before the next record is in it, and nothing of that record. So one rule continues them all:
 * read from the record `sequence` on and leave out its first n frames.
 */
export interface Cursor {
  readonly seq: number
  readonly n: number
}

export function cursorId({ seq, n }: Cursor): string {
  return `${seq}.${n}`
}

export function afterSnapshot(version: number): Cursor {
  return { seq: version + 1, n: 0 }
}

/** Undefined for anything that is not an id of ours: the stream then starts with a snapshot, which loses nothing. */
export function readCursor(id: string | undefined): Cursor | undefined {
  const found = /^(\d{1,15})\.(\d{1,6})$/.exec(id?.trim() ?? '')
  if (found?.[1] === undefined || found[2] === undefined) return undefined
  return { seq: Number(found[1]), n: Number(found[2]) }
}
