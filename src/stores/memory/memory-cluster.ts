/**
 * One store in memory that several engines of the same program share, as processes share a
 * database. For tests: each engine has its own connection, and is notified of what the others
 * change.
 */
import { changesOf } from '../../ports/store/changes-of.ts'
import type { Changes, ClusterStore } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'
import { createDuties } from './duties.ts'
import {
  connectMemory,
  createGuard,
  createMemoryData,
  holdsInEffect,
  type MemoryData,
} from './memory-store.ts'
import { createReservations } from './reservations.ts'
import { createWorkers } from './workers.ts'

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
    createReservations<number>(now),
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
      versions: guarded((taskIds) => taskIds.map(tasks.version)),
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
