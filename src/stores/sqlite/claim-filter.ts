/**
 * Tells of nearly every new key that nobody has claimed it, without asking the database: a Bloom filter of all claims.
 * This process alone writes claims, and each is added before it is written; those of earlier processes are read a slice
 * at a time, from the first question on. Until all are in it, any key may be claimed.
 */
import type { Database } from './driver.ts'

export interface ClaimFilter {
  /** False: certainly nobody has claimed it. */
  has(place: string): boolean
  /** What `has` said before. */
  add(place: string): boolean
  close(): void
}

/** 4 MB, a word of it per key: with a million claims one new key in 300 is looked up in the database all the same. */
const WORDS_LOG2 = 20
const SLICE = 512
const PAUSE_MS = 1

export function createClaimFilter(db: Database): ClaimFilter {
  const slice = db.prepare('SELECT pos, place FROM claims WHERE pos > ? ORDER BY pos LIMIT ?')
  // Nobody outside can tell which keys fall together.
  const seed = Math.floor(Math.random() * 2 ** 32)
  let words: Uint32Array | undefined
  let after = 0
  let full = false
  let timer: NodeJS.Timeout | undefined

  function fill(into: Uint32Array): void {
    const rows = slice.all(after, SLICE)
    for (const row of rows) {
      after = Number(row['pos'])
      touch(into, String(row['place']), true)
    }
    full = rows.length < SLICE
    if (!full) timer = setTimeout(fillOn, PAUSE_MS, into).unref()
  }

  function fillOn(into: Uint32Array): void {
    try {
      fill(into)
    } catch {
      // It is never full then, and whoever asks the database is told what is wrong with it.
    }
  }

  function touch(into: Uint32Array, place: string, add: boolean): boolean {
    let a = seed
    let b = ~seed
    for (let n = 0; n < place.length; n++) {
      const unit = place.charCodeAt(n)
      a = Math.imul(a ^ unit, 0x9e3779b1)
      b = Math.imul(b ^ unit ^ (a >>> 15), 0x85ebca77)
    }
    const word = (a ^ (b >>> 13)) >>> (32 - WORDS_LOG2)
    // Four bits of the word.
    const mask = (1 << (b >>> 27)) | (1 << (b >>> 22)) | (1 << (b >>> 17)) | (1 << (b >>> 12))
    const found = into[word] ?? 0
    if (add) into[word] = found | mask
    return !full || (found & mask) === mask
  }

  function ask(place: string, add: boolean): boolean {
    if (words === undefined) {
      words = new Uint32Array(2 ** WORDS_LOG2)
      fill(words)
    }
    return touch(words, place, add)
  }

  return {
    has: (place) => ask(place, false),
    add: (place) => ask(place, true),
    close: () => clearTimeout(timer),
  }
}
