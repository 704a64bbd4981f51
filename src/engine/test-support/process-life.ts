/** Ports that end with their process: after `end` a call never answers and a timer never fires. */
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'

export interface Life {
  readonly alive: () => boolean
  readonly end: () => void
  readonly touch: () => void
  /** Resolves when nothing was touched for a while. */
  readonly settled: () => Promise<void>
}

/** Loop turns without a sign of life after which nothing more is to be expected. */
const QUIET_TURNS = 40

export function createLife(): Life {
  let alive = true
  let touched = 0
  return {
    alive: () => alive,
    end: () => {
      alive = false
    },
    touch: () => {
      touched++
    },
    async settled() {
      let seen = touched
      for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
        await new Promise((resolve) => setImmediate(resolve))
        if (touched === seen) continue
        seen = touched
        quiet = 0
      }
    },
  }
}

const never: Promise<never> = new Promise(() => undefined)

export function storeUntilDeath(store: Store, life: Life): Store {
  return new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof member !== 'function') return member
      return async (...args: readonly unknown[]) => {
        if (!life.alive()) return never
        life.touch()
        const result: unknown = await Reflect.apply(member, target, args)
        life.touch()
        return life.alive() ? result : never
      }
    },
  })
}

export function clockUntilDeath(clock: Clock, life: Life): Clock {
  const whileAlive = (callback: () => void) => (): void => {
    if (!life.alive()) return
    life.touch()
    callback()
  }
  return {
    now: clock.now,
    after: (ms, callback) => clock.after(ms, whileAlive(callback)),
    at: (instant, callback) => clock.at(instant, whileAlive(callback)),
  }
}
