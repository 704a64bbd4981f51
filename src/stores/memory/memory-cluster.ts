/**
 * One store in memory that several engines of the same program share, as processes share a
 * database. For tests: each engine has its own connection, and is notified of what the others
 * change.
 */

import type { Json } from '../../core/values/json.ts'
import { changesOf } from '../../ports/store/changes-of.ts'
import type { Beat, Changes, ClusterStore, NewWorker, Worker } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'
import {
  connectMemory,
  createGuard,
  createMemoryData,
  holdsInEffect,
  type MemoryData,
} from './memory-store.ts'
import { createReservations } from './work.ts'

export interface MemoryCluster {
  /** A connection of one process. */
  connect(): Store
}

/** @param now the clock of the store */
export function createMemoryCluster(now: () => number): MemoryCluster {
  const workers = createWorkers(now, () => data.holdEpoch ?? 0)
  const reservations = createReservations<string>(now)
  const data: MemoryData = createMemoryData(
    { reservations, isAlive: workers.isAlive, now },
    createReservations<string>(now),
  )
  const duties = createDuties(now)
  const connections = new Set<Listeners>()

  function connect(): Store {
    const mine: Listeners = new Set()
    connections.add(mine)
    const guard = createGuard()
    const { guarded } = guard
    const store = connectMemory(data, guard)
    const { tasks, events } = data

    function report(changes: Changes): void {
      for (const listeners of connections) {
        if (listeners === mine) continue
        for (const listener of listeners) listener(changes)
      }
    }

    const cluster: ClusterStore = {
      registerWorker: guarded(workers.register),
      heartbeat: guarded(workers.beat),
      removeWorker: guarded(workers.remove),
      workers: guarded(workers.list),
      versions: guarded((keys) => keys.map(tasks.version)),
      async putHoldAt(hold, epoch) {
        if ((data.holdEpoch ?? 0) !== epoch) return false
        await store.putHold(hold)
        return true
      },
      nextHoldEpoch: guarded(() => {
        data.holdEpoch = (data.holdEpoch ?? 0) + 1
        return data.holdEpoch
      }),
      holdsInEffect: guarded(() => ({ epoch: data.holdEpoch ?? 0, holds: holdsInEffect(data) })),
      undispatchedEvents: guarded(events.undispatched),
      reserveEvents: guarded(events.reserve),
      markDispatched: guarded(events.markDispatched),
      takeDuty: guarded(duties.take),
      pruneDuties: guarded(duties.prune),
      onChanges(listener) {
        mine.add(listener)
        return () => mine.delete(listener)
      },
      report,
    }
    return {
      ...store,
      cluster,
      async commit(batch) {
        const results = await store.commit(batch)
        const changes = changesOf(batch, results)
        if (changes !== undefined) report(changes)
        return results
      },
      async close() {
        connections.delete(mine)
        await store.close()
      },
    }
  }

  return { connect }
}

type Listeners = Set<(changes: Changes) => void>

/** Duties: work that one worker does for all, for a limited time. */
interface Duties {
  /** With 0 the worker gives the duty back. */
  take(name: string, workerId: string, forMs: number): boolean
  prune(limit: number): number
}

/** @param now the clock of the store */
function createDuties(now: () => number): Duties {
  const duties = new Map<string, { readonly workerId: string; readonly until: number }>()
  return {
    take(name, workerId, forMs) {
      const duty = duties.get(name)
      const isMine = duty?.workerId === workerId
      if (forMs === 0) return isMine && duties.delete(name)
      if (duty !== undefined && duty.until > now() && !isMine) return false
      duties.set(name, { workerId, until: now() + forMs })
      return true
    },
    prune(limit) {
      const past = [...duties].filter(([, { until }]) => until <= now()).slice(0, limit)
      for (const [name] of past) duties.delete(name)
      return past.length
    },
  }
}

/** The leases of the processes that share a store. */
interface Workers {
  register(worker: NewWorker, leaseMs: number): Beat
  beat(workerId: string, leaseMs: number, note: Json): Beat | undefined
  remove(workerId: string): void
  list(): readonly Worker[]
  readonly isAlive: (workerId: string) => boolean
}

interface Entry {
  readonly worker: NewWorker
  leaseUntil: number
  note: string
}

function createWorkers(now: () => number, holdEpoch: () => number): Workers {
  const entries = new Map<string, Entry>()
  const isAlive = (workerId: string): boolean => (entries.get(workerId)?.leaseUntil ?? 0) > now()

  return {
    register(worker, leaseMs) {
      if (entries.has(worker.id)) throw new Error(`worker ${worker.id} was registered before`)
      entries.set(worker.id, { worker, leaseUntil: now() + leaseMs, note: 'null' })
      return { now: now(), holdEpoch: holdEpoch() }
    },
    beat(workerId, leaseMs, note) {
      const entry = entries.get(workerId)
      if (entry === undefined || !isAlive(workerId)) return undefined
      entry.leaseUntil = now() + leaseMs
      entry.note = JSON.stringify(note)
      return { now: now(), holdEpoch: holdEpoch() }
    },
    remove(workerId) {
      entries.delete(workerId)
    },
    list: () =>
      [...entries.values()]
        .map(({ worker, leaseUntil, note }) => ({
          ...structuredClone(worker),
          alive: isAlive(worker.id),
          leaseUntil,
          note: JSON.parse(note) as Json,
        }))
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
    isAlive,
  }
}
