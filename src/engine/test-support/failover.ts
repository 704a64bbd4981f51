/**
 * A shared store in memory whose server can fail: another one takes over that lacks the last writes, as a standby does that
 * was behind. Every process is told, as PostgreSQL tells it. For tests only.
 */
import type { Changes, ClusterStore } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'
import { createMemoryCluster, type MemoryCluster } from '../../stores/memory/memory-cluster.ts'
import { isImmediate, isRead } from './delaying-store.ts'

export interface FailoverCluster extends MemoryCluster {
  /** The writes that `isKept` refuses are lost. They are given in their order, from 0. */
  failOver(
    isKept: (write: Write, index: number, writes: readonly Write[]) => boolean,
  ): Promise<void>
}

export interface Write {
  readonly name: string
  readonly at: number
  readonly repeat: (store: Store) => Promise<unknown>
}

type Method = (...args: readonly unknown[]) => Promise<unknown>

/** @param now the clock of the store */
export function createFailoverCluster(now: () => number): FailoverCluster {
  let writes: Write[] = []
  let server = createMemoryCluster(now)
  let failing: Promise<void> | undefined
  const reconnects: (() => void)[] = []

  /** A server with these writes, each made at its own time. */
  async function serverWith(kept: readonly Write[]): Promise<MemoryCluster> {
    let replayed: number | undefined = 0
    const next = createMemoryCluster(() => replayed ?? now())
    const store = next.connect()
    for (const { at, repeat } of kept) {
      replayed = at
      await repeat(store).catch(() => undefined)
    }
    replayed = undefined
    await store.close()
    return next
  }

  function connect(): Store {
    let store = server.connect()
    const listeners = new Map<(changes: Changes) => void, () => void>()
    const clusterOf = (one: Store): ClusterStore => {
      if (one.cluster === undefined) throw new Error('the store is not shared')
      return one.cluster
    }
    reconnects.push(() => {
      store = server.connect()
      for (const listener of listeners.keys()) {
        listeners.set(listener, clusterOf(store).onChanges(listener))
        listener({ rolledBack: true, everything: true })
      }
    })

    function through<T extends object>(target: T, partOf: (one: Store) => object): T {
      return new Proxy(target, {
        get(_, name) {
          if (typeof name === 'symbol' || !(name in target)) return undefined
          if (name === 'cluster') return cluster
          if (isImmediate(name)) return (changes: Changes) => clusterOf(store).report(changes)
          return async (...args: readonly unknown[]) => {
            await failing
            const repeat = async (one: Store): Promise<unknown> =>
              (Reflect.get(partOf(one), name) as Method)(...args)
            if (!isRead(name)) writes.push({ name, at: now(), repeat })
            return repeat(store)
          }
        },
      })
    }

    const cluster: ClusterStore = {
      ...Object.fromEntries(
        Object.keys(clusterOf(store)).map((name) => [
          name,
          Reflect.get(through(clusterOf(store), clusterOf), name),
        ]),
      ),
      onChanges(listener: (changes: Changes) => void) {
        listeners.set(listener, clusterOf(store).onChanges(listener))
        return () => {
          listeners.get(listener)?.()
          listeners.delete(listener)
        }
      },
    } as ClusterStore
    return through(store, (one) => one)
  }

  return {
    connect,
    async failOver(isKept) {
      const kept = writes.filter(isKept)
      const taking = serverWith(kept)
      failing = taking.then(() => undefined)
      server = await taking
      writes = kept
      failing = undefined
      for (const reconnect of reconnects) reconnect()
    },
  }
}
