import { RESERVED_MS } from '../../ports/store/cluster.ts'

/** Reservations: what was given to one process and is not given to another for a while. */
export interface Reservations<K> {
  readonly isFree: (key: K) => boolean
  reserve(key: K): void
  release(key: K): void
}

export function createReservations<K>(now: () => number): Reservations<K> {
  const until = new Map<K, number>()
  return {
    isFree: (key) => (until.get(key) ?? 0) <= now(),
    reserve(key) {
      until.set(key, now() + RESERVED_MS)
    },
    release(key) {
      until.delete(key)
    },
  }
}
