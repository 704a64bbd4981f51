import type { Clock } from '../ports/clock.ts'

/** A value that is read when it is needed and older than `maxAgeMs`. Meanwhile the old value is used. */
export interface FreshValue<T> {
  /** A promise as long as no read has succeeded. */
  get(): T | Promise<T>
}

export function createFreshValue<T>(
  clock: Pick<Clock, 'now'>,
  maxAgeMs: number,
  read: () => Promise<T>,
): FreshValue<T> {
  let known: { readonly value: T; readonly readAt: number } | undefined
  let reading: Promise<T> | undefined

  async function load(): Promise<T> {
    try {
      const value = await read()
      known = { value, readAt: clock.now() }
      return value
    } finally {
      reading = undefined
    }
  }

  return {
    get() {
      if (known !== undefined && clock.now() - known.readAt <= maxAgeMs) return known.value
      reading ??= load()
      if (known === undefined) return reading
      reading.catch(() => undefined)
      return known.value
    },
  }
}
