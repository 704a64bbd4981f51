/**
 * The guard thread: renews the lease of the process while its event loop is blocked
 * (`loop-watch.ts`).
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { GuardedLease } from '../../../ports/store/cluster.ts'
import { openDatabase } from '../connection/database.ts'
import { createWorkers } from '../workers.ts'
import type { GuardData } from './loop-guard.ts'
import { createLoopMemory } from './loop-memory.ts'
import { createLoopWatch } from './loop-watch.ts'

const { database, memory } = workerData as GuardData
const loop = createLoopMemory(memory)
const leases = openDatabase(database)
const workers = createWorkers(leases, leases)
let lease: GuardedLease | undefined
let isDue = createLoopWatch()

/** How often the thread checks within one lease. */
const LOOKS = 24
const LONGEST_MS = 1_000

function look(): void {
  const ms = Math.min(LONGEST_MS, (lease?.leaseMs ?? Number.POSITIVE_INFINITY) / LOOKS)
  setTimeout(look, ms)
  if (lease === undefined) return
  const { workerId, leaseMs, note } = lease
  if (!isDue({ ...lease, now: performance.now(), turns: loop.turns() })) return
  // The note names the task before the lease runs out, so that it is stored however the process
  // ends.
  const blocked = { ...note, blockedBy: loop.blockedBy() ?? null }
  // A failed heartbeat is repeated with the next check. The event loop reports when it turns again.
  workers.heartbeat(workerId, leaseMs, blocked).catch(() => undefined)
}

parentPort?.on('message', (guarded: { readonly lease: GuardedLease | undefined }) => {
  if (guarded.lease?.workerId !== lease?.workerId) isDue = createLoopWatch()
  lease = guarded.lease
})
look()
