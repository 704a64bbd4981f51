import { weightOf } from '../core/weight.ts'

/** Values that are read at once. */
const SLICE = 4

export interface Within<T> {
  /** How many of the sources were read and fit. */
  readonly read: number
  /** What they gave. */
  readonly values: readonly T[]
}

/** Reads values in order, as long as they have at most so many bytes together. The first one is taken, however large it is. */
export async function readWithin<S, T>(
  bytes: number,
  sources: readonly S[],
  load: (source: S) => Promise<T | undefined>,
): Promise<Within<T>> {
  const values: T[] = []
  let used = 0
  let read = 0
  while (read < sources.length) {
    for (const value of await Promise.all(sources.slice(read, read + SLICE).map(load))) {
      if (value !== undefined) {
        used += weightOf(value)
        if (used > bytes && values.length > 0) return { read, values }
        values.push(value)
      }
      read++
    }
  }
  return { read, values }
}
