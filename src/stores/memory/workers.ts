/** The leases of the processes that share a store. */
import type { Json } from '../../core/values/json.ts'
import type { Beat, NewWorker, Worker } from '../../ports/store/cluster.ts'

export interface Workers {
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

export function createWorkers(now: () => number, holdEpoch: () => number): Workers {
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
