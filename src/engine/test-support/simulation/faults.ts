/** What can go wrong in a simulated history. A random half of it is switched off. For tests only. */
import { LullError } from '../../../core/errors.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Store } from '../../../ports/store.ts'
import { createDelayingStore } from '../delaying-store.ts'
import type { Random } from './random.ts'

/** Longer than a lease of the simulation. */
const MOST_LATE_MS = 8_000

export interface Faults {
  /** The most loop turns that a call of the store takes, twice. */
  readonly turns: number
  /** How probable it is that a call of the store fails without an effect. */
  readonly failing: number
  /** How probable it is that a commit is written and its answer comes seconds later. */
  readonly lateAnswers: number
  readonly lostHints: number
  readonly repeatedHints: number
  readonly lateHints: number
  readonly kills: boolean
  readonly stops: boolean
  readonly drains: boolean
  readonly skew: boolean
}

export function drawFaults(random: Random): Faults {
  const maybe = (probability: number): number => (random.chance(0.5) ? probability : 0)
  return {
    turns: random.below(4),
    failing: maybe(0.01),
    lateAnswers: maybe(0.02),
    lostHints: random.pick([0, 0.3, 1]) ?? 0,
    repeatedHints: maybe(0.3),
    lateHints: maybe(0.5),
    kills: random.chance(0.5),
    stops: random.chance(0.5),
    drains: random.chance(0.5),
    skew: random.chance(0.5),
  }
}

/** How often a report arrives, and after how many loop turns. */
export function hintsOf(faults: Faults, random: Random): () => readonly number[] {
  const turns = (): number => (random.chance(faults.lateHints) ? random.below(12) : 0)
  return () => {
    if (random.chance(faults.lostHints)) return []
    return random.chance(faults.repeatedHints) ? [turns(), turns()] : [turns()]
  }
}

/**
 * A connection to the store that is slow, and fails now and then until the history heals.
 * @param after lets time pass
 */
export function connectionOf(
  faults: Faults,
  random: Random,
  isHealed: () => boolean,
  after: Clock['after'],
): (store: Store) => Store {
  const failing = (): boolean => !isHealed() && random.chance(faults.failing)
  const late = async (): Promise<void> => {
    if (isHealed() || !random.chance(faults.lateAnswers)) return
    await new Promise<void>((resolve) => after(random.below(MOST_LATE_MS), resolve))
  }
  return (store) => {
    const slow = createDelayingStore(store, {
      seed: random.below(2 ** 31),
      turns: faults.turns,
    })
    const answering = faults.lateAnswers === 0 ? slow : lateStore(slow, late)
    return faults.failing === 0 ? answering : failingStore(answering, failing)
  }
}

/** Other calls go on meanwhile, heartbeats too. */
function lateStore(store: Store, late: () => Promise<void>): Store {
  return {
    ...store,
    async commit(batch) {
      const results = await store.commit(batch)
      await late()
      return results
    },
  }
}

/** Calls at the start of a process do not fail: a process that cannot start is started again. */
function failingStore(store: Store, failing: () => boolean): Store {
  const mayFail: ReadonlySet<string | symbol> = new Set<keyof Store>([
    'commit',
    'ready',
    'due',
    'records',
  ])
  return new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof member !== 'function' || !mayFail.has(name)) return member
      return async (...args: readonly unknown[]) => {
        if (failing()) throw new LullError('STORE_UNAVAILABLE', { why: 'the connection was cut' })
        return Reflect.apply(member, target, args)
      }
    },
  })
}
