/**
 * A shared store in memory whose server can fail: another one takes over that lacks the last writes, as a standby does that
 * was behind. Every process is told, as PostgreSQL tells it. For tests only.
 */
import type { Changes, ClusterStore } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'
import { createMemoryCluster, type MemoryCluster } from '../../stores/memory/memory-cluster.ts'
import { isRead } from './delaying-store.ts'

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

type Call = (name: string, repeat: Write['repeat']) => Promise<unknown>

/** @param now the clock of the store */
export function createFailoverCluster(now: () => number): FailoverCluster {
  let writes: Write[] = []
  let server = createMemoryCluster(now)
  let failing: Promise<unknown> | undefined
  const reconnects: (() => void)[] = []

  return {
    connect() {
      let connected = connectTo(server)
      /** With the function that ends the calls of each. */
      const listeners = new Map<(changes: Changes) => void, () => void>()
      reconnects.push(() => {
        connected = connectTo(server)
        for (const listener of listeners.keys()) {
          listeners.set(listener, connected.cluster.onChanges(listener))
          listener({ rolledBack: true, everything: true })
        }
      })
      const call: Call = async (name, repeat) => {
        await failing
        if (!isRead(name)) writes.push({ name, at: now(), repeat })
        return repeat(connected.store)
      }
      const cluster: ClusterStore = {
        ...through(call, connected.cluster, (store) => store.cluster),
        report: (changes) => connected.cluster.report(changes),
        onChanges(listener) {
          listeners.set(listener, connected.cluster.onChanges(listener))
          return () => {
            listeners.get(listener)?.()
            listeners.delete(listener)
          }
        },
      }
      return { ...through(call, connected.store, (store) => store), cluster }
    },
    async failOver(isKept) {
      const kept = writes.filter(isKept)
      const taking = serverWith(kept, now)
      failing = taking
      server = await taking
      writes = kept
      failing = undefined
      for (const reconnect of reconnects) reconnect()
    },
  }
}

function connectTo(server: MemoryCluster): { store: Store; cluster: ClusterStore } {
  const store = server.connect()
  if (store.cluster === undefined) throw new Error('the store is not shared')
  return { store, cluster: store.cluster }
}

/** The methods of a store, or of a part of it, each by a call. */
function through<T extends object>(
  call: Call,
  methods: T,
  partOf: (store: Store) => object | undefined,
): T {
  const repeat =
    (name: string, args: readonly unknown[]): Write['repeat'] =>
    async (store) =>
      Reflect.apply(Reflect.get(partOf(store) ?? {}, name), undefined, args)
  const called = Object.keys(methods).map((name) => [
    name,
    (...args: readonly unknown[]) => call(name, repeat(name, args)),
  ])
  return Object.fromEntries(called) as T
}

/** A server with these writes, each made at its own time. */
async function serverWith(kept: readonly Write[], now: () => number): Promise<MemoryCluster> {
  let replayed: number | undefined = 0
  const server = createMemoryCluster(() => replayed ?? now())
  const store = server.connect()
  for (const { at, repeat } of kept) {
    replayed = at
    await repeat(store).catch(() => undefined)
  }
  replayed = undefined
  return server
}
