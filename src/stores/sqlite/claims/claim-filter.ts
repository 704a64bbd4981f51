/**
 * A Bloom filter of all claims. For nearly every new key it shows without a query that the key is
 * not claimed. A
 * send costs 9 to 22 % more without it (docs/benchmarks.md).
 *
 * Only this process writes claims, and each key is added before it is written. Claims of earlier
 * processes are read in slices, starting at the first call. Until all of them are read, every key
 * counts as possibly claimed. A filter that has become too small is replaced by a larger one, which
 * is filled the same way.
 */
import type { ClaimKey } from '../../../ports/store/claims.ts'
import type { Database } from '../files/driver.ts'
import { keyAt } from './claim-index.ts'

export interface ClaimFilter {
  /** False: the key is certainly not claimed. True: it may be claimed. */
  has(key: ClaimKey): boolean
  /** Adds the key. Returns what `has` returned before. */
  add(key: ClaimKey): boolean
  close(): void
}

/**
 * Sizes as the logarithm of the number of four-byte words, one word per claim. About one new key in
 * 300 is then looked up needlessly.
 */
export interface FilterSizes {
  readonly leastLog2: number
  readonly mostLog2: number
}

/** 4 MB; 64 MB for sixteen million claims or more. */
const SIZES: FilterSizes = { leastLog2: 20, mostLog2: 24 }
const SLICE = 512
const PAUSE_MS = 10
const RETRY_MS = 1_000

export function createClaimFilter(db: Database, sizes: FilterSizes = SIZES): ClaimFilter {
  const slice = db.prepare('SELECT pos, place FROM claims WHERE pos > ? ORDER BY pos LIMIT ?')
  const extent = db.prepare('SELECT max(pos) - min(pos) + 1 AS n FROM claims')
  // Random, so that a client cannot choose keys that collide.
  const seed = Math.floor(Math.random() * 2 ** 32)
  /** The filter that has every claim. */
  let full: Words | undefined
  /** The filter that is being filled: the first one, or the next larger one. */
  let filling: Words | undefined
  let timer: NodeJS.Timeout | undefined

  /**
   * Creates an empty filter for that many claims. Undefined when the current filter already has
   * that size.
   */
  function begin(claims: number): Words | undefined {
    const log2 = Math.min(sizes.mostLog2, Math.max(sizes.leastLog2, Math.ceil(Math.log2(claims))))
    filling = log2 === full?.log2 ? undefined : new Words(log2, seed)
    return filling
  }

  function fill(words: Words, after: number): void {
    let last = after
    let pause = PAUSE_MS
    try {
      const rows = slice.all(after, SLICE)
      for (const { pos, place } of rows) {
        last = Number(pos)
        words.add(keyAt(String(place)))
      }
      if (rows.length < SLICE) {
        full = words
        filling = undefined
        return
      }
    } catch {
      // The failure is not reported here, because calls that query the database will report it.
      pause = RETRY_MS
    }
    fillLater(words, last, pause)
  }

  function fillLater(words: Words, after: number, pause: number): void {
    timer = setTimeout(fill, pause, words, after).unref()
  }

  function tryBegin(): void {
    try {
      const words = begin(Number(extent.get()?.['n'] ?? 1))
      if (words !== undefined) fill(words, 0)
    } catch {
      // The next call tries again.
    }
  }

  /**
   * Starts a larger filter. It is filled later, because the newest keys are not in the table yet.
   */
  function grow(claims: number): void {
    const words = begin(claims)
    if (words !== undefined) fillLater(words, 0, PAUSE_MS)
  }

  return {
    has(key) {
      if (full === undefined && filling === undefined) tryBegin()
      return full === undefined || full.has(key)
    },
    add(key) {
      if (full === undefined && filling === undefined) tryBegin()
      const known = full === undefined || full.add(key)
      if (full?.isCrowded && filling === undefined) grow(2 * full.size)
      filling?.add(key)
      return known
    },
    close: () => clearTimeout(timer),
  }
}

class Words {
  readonly log2: number
  readonly #seed: number
  readonly #words: Uint32Array
  #added = 0
  #a = 0
  #b = 0

  constructor(log2: number, seed: number) {
    this.log2 = log2
    this.#seed = seed
    this.#words = new Uint32Array(2 ** log2)
  }

  get size(): number {
    return this.#words.length
  }

  get isCrowded(): boolean {
    return this.#added > this.#words.length
  }

  has(key: ClaimKey): boolean {
    return this.#touch(key, false)
  }

  /** Adds the key. Returns whether it may have been added before. */
  add(key: ClaimKey): boolean {
    this.#added++
    return this.#touch(key, true)
  }

  #touch({ tenant, principal, agent, key }: ClaimKey, add: boolean): boolean {
    this.#a = this.#seed
    this.#b = ~this.#seed
    this.#mix(tenant)
    this.#mix(principal)
    this.#mix(agent)
    this.#mix(key)
    const a = this.#a
    const b = this.#b
    const word = (a ^ (b >>> 13)) >>> (32 - this.log2)
    // A mask of four bits in the word.
    const mask = (1 << (b >>> 27)) | (1 << (b >>> 22)) | (1 << (b >>> 17)) | (1 << (b >>> 12))
    const found = this.#words[word] ?? 0
    if (add) this.#words[word] = found | mask
    return (found & mask) === mask
  }

  #mix(text: string): void {
    let a = this.#a
    // The length separates the texts: 'ab' + 'c' hashes differently from 'a' + 'bc'.
    let b = this.#b ^ text.length
    for (let n = 0; n < text.length; n++) {
      const unit = text.charCodeAt(n)
      a = Math.imul(a ^ unit, 0x9e3779b1)
      b = Math.imul(b ^ unit ^ (a >>> 15), 0x85ebca77)
    }
    this.#a = a
    this.#b = b
  }
}
