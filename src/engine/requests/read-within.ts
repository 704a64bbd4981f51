import { weightOf } from '../../core/values/weight.ts'
import type { Store } from '../../ports/store.ts'

/** Values that are read at once from a shared store, because each read is a round trip. */
const SLICE = 4
/** Bytes that are read before other work of the event loop has its turn. */
const TURN_BYTES = 1_048_576

export interface Within<T> {
  /** How many of the sources were read and fit. */
  readonly read: number
  /** What they gave. */
  readonly values: readonly T[]
}

/**
 * Reads values in order, as long as they have at most so many bytes together. The first one is taken, however large it is.
 * An embedded store reads in the thread of the event loop. Its values are read one by one, with turns for other work between
 * large ones, because several large ones at once would hold the loop.
 */
export async function readWithin<S, T>(
  { cluster }: Pick<Store, 'cluster'>,
  bytes: number,
  sources: readonly S[],
  load: (source: S) => Promise<T | undefined>,
): Promise<Within<T>> {
  const atOnce = cluster === undefined ? 1 : SLICE
  const values: T[] = []
  let used = 0
  let read = 0
  let turnAt = TURN_BYTES
  while (read < sources.length && (used <= bytes || values.length === 0)) {
    const slice = await Promise.all(sources.slice(read, read + atOnce).map(load))
    for (const value of slice) {
      if (value !== undefined) {
        used += weightOf(value)
        if (used > bytes && values.length > 0) break
        values.push(value)
      }
      read++
    }
    if (used < turnAt) continue
    turnAt = used + TURN_BYTES
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { read, values }
}
