import type { Clock } from '../../ports/clock.ts'

/**
 * Caches a value that is read on demand once it is older than `maxAgeMs`. During the read the old
 * value is used, unless it is more than `TOO_OLD` times as old.
 */
export interface FreshValue<T> {
  /** Returns a promise only when there is no usable value. */
  get(): T | Promise<T>
}

const TOO_OLD = 10

export function createFreshValue<T>(
  clock: Pick<Clock, 'elapsed'>,
  maxAgeMs: number,
  read: () => Promise<T>,
): FreshValue<T> {
  let known: { readonly value: T; readonly readAt: number } | undefined
  let reading: Promise<T> | undefined

  async function load(): Promise<T> {
    try {
      const value = await read()
      known = { value, readAt: clock.elapsed() }
      return value
    } finally {
      reading = undefined
    }
  }

  return {
    get() {
      const age = known === undefined ? Number.POSITIVE_INFINITY : clock.elapsed() - known.readAt
      if (known !== undefined && age <= maxAgeMs) return known.value
      reading ??= load()
      if (known === undefined || age > TOO_OLD * maxAgeMs) return reading
      reading.catch(() => undefined)
      return known.value
    },
  }
}
