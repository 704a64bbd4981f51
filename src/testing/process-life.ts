/**
 * Simulates the life of a process for its ports: after `end`, calls never answer and timers never
 * fire. While the process is stopped, as by SIGSTOP, calls neither act nor answer; reports that
 * arrived meanwhile are delivered when it continues.
 */
import type { Clock } from '../ports/clock.ts'
import type { Changes, ClusterStore } from '../ports/store/cluster.ts'
import type { Store } from '../ports/store.ts'

export interface Life {
  readonly alive: () => boolean
  readonly end: () => void
  readonly stop: () => void
  readonly goOn: () => void
  /** Resolves when the process is no longer stopped. Undefined if it is not stopped. */
  readonly running: () => Promise<void> | undefined
  readonly touch: () => void
  /** The number of calls of `touch`. */
  readonly touched: () => number
  /** Resolves when `touch` was not called for a while. */
  readonly settled: () => Promise<void>
}

/** After this many turns of the event loop without activity, nothing more is expected to happen. */
const QUIET_TURNS = 40

export function createLife(): Life {
  let alive = true
  let touched = 0
  let stopped: { readonly over: Promise<void>; readonly goOn: () => void } | undefined
  return {
    alive: () => alive,
    end: () => {
      alive = false
    },
    stop: () => {
      let goOn: () => void = () => undefined
      const over = new Promise<void>((resolve) => {
        goOn = resolve
      })
      stopped ??= { over, goOn }
    },
    goOn: () => {
      stopped?.goOn()
      stopped = undefined
    },
    running: () => stopped?.over,
    touch: () => {
      touched++
    },
    touched: () => touched,
    settled: () => quiet(() => touched),
  }
}

/** Resolves when the count has not changed for that many turns of the event loop. */
export async function quiet(
  touched: () => number,
  quietTurns: number = QUIET_TURNS,
): Promise<void> {
  let seen = touched()
  for (let turns = 0; turns < quietTurns; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (touched() === seen) continue
    seen = touched()
    turns = 0
  }
}

const never: Promise<never> = new Promise(() => undefined)

export function storeUntilDeath(store: Store, life: Life): Store {
  return untilDeath(store, life, (cluster) => ({
    ...untilDeath(cluster, life),
    onChanges: (listener) =>
      cluster.onChanges((changes) => {
        hear(life, listener, changes)
      }),
    report: (changes) => {
      if (life.alive()) cluster.report(changes)
    },
  }))
}

function hear(life: Life, listener: (changes: Changes) => void, changes: Changes): void {
  if (!life.alive()) return
  const stopped = life.running()
  if (stopped !== undefined) {
    stopped.then(() => hear(life, listener, changes)).catch(() => undefined)
    return
  }
  life.touch()
  listener(changes)
}

function untilDeath<T extends object>(
  target: T,
  life: Life,
  inner?: (cluster: ClusterStore) => ClusterStore,
): T {
  return new Proxy(target, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (name === 'cluster' && member !== undefined) return inner?.(member as ClusterStore)
      if (typeof member !== 'function') return member
      return async (...args: readonly unknown[]) => {
        if (life.running() !== undefined) await life.running()
        if (!life.alive()) return never
        life.touch()
        const result: unknown = await Reflect.apply(member, target, args)
        if (life.running() !== undefined) await life.running()
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
    elapsed: clock.elapsed,
    wall: clock.wall,
    after: (ms, callback) => clock.after(ms, whileAlive(callback)),
    at: (instant, callback) => clock.at(instant, whileAlive(callback)),
  }
}
