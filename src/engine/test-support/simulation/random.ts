/** Random choices of one simulated history. The same seed makes the same choices. For tests only. */
import { seeded } from '../delaying-store.ts'

export interface Random {
  /** In [0, 1). */
  readonly next: () => number
  /** A whole number in [0, below). */
  below(below: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T | undefined
}

export function createRandom(seed: number): Random {
  const next = seeded(seed)
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (from) => from[below(from.length)],
  }
}
