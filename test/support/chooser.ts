/** Choices that a seed decides. */
import { seeded } from './seeded.ts'

export interface Chooser {
  /** A whole number from 0, below the limit. */
  below(limit: number): number
  chance(probability: number): boolean
  /** @param these at least one */
  oneOf<T>(these: readonly T[]): T
}

/** Each purpose has a chooser of its own, so that no choice depends on how far others got. */
export function chooser(seed: number, purpose: number): Chooser {
  const random = seeded(Math.imul(seed, 0x9e3779b1) ^ Math.imul(purpose + 1, 0x85ebca6b))
  const below = (limit: number): number => Math.floor(random() * limit)
  return {
    below,
    chance: (probability) => random() < probability,
    oneOf: <T>(these: readonly T[]) => these[below(these.length)] as T,
  }
}
