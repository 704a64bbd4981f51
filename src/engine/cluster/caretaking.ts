/**
 * What living processes do for dead ones: take over their tasks, dispatch their events, and finish
 * the follow-up work of their last writes. Each has its own timer, so that a slow one does not
 * delay the others.
 */
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { ClusterStore, Worker } from '../../ports/store/cluster.ts'
import type { Runs } from '../executor/runs.ts'
import type { Events } from '../wakes/events.ts'
import type { Membership } from './membership.ts'
import { tryDuty } from './with-duty.ts'

export interface Caretaking {
  start(): void
  stop(): void
}

export interface CaretakingDeps {
  readonly cluster: Pick<ClusterStore, 'workers' | 'removeWorker'>
  readonly clock: Clock
  readonly log: Log
  readonly membership: Pick<Membership, 'takeDuty' | 'holdsLease' | 'renew'>
  readonly runs: Pick<Runs, 'recover'>
  readonly events: Pick<Events, 'retell'>
  /** Finishes the work that the worker left, apart from its tasks. */
  readonly finish: (worker: Worker) => Promise<void>
  /**
   * Whether the row of the worker is still needed although its work is finished (C11 of
   * `membership.ts`).
   */
  readonly isNeeded: (worker: Worker) => Promise<boolean>
  readonly leaseMs: number
}

export function createCaretaking(deps: CaretakingDeps): Caretaking {
  const { cluster, clock, log, membership, runs, events, finish, isNeeded, leaseMs } = deps
  const { takeDuty } = membership
  const timers = new Map<Work, () => void>()
  let stopped = false

  async function buryDead(): Promise<void> {
    for (const worker of await cluster.workers()) if (!worker.alive) await bury(worker)
  }

  /**
   * Finishes the work of a dead worker, and removes its row last: if this process dies before that,
   * another one does the work again. Work that failed and will be retried is first written to the
   * note of this process, so that it survives this process too.
   */
  function bury(worker: Worker): Promise<void> {
    return tryDuty({ takeDuty, clock, options: { leaseMs } }, `worker ${worker.id}`, async () => {
      await finish(worker)
      if (await isNeeded(worker)) return
      if (!(await membership.renew()) || !membership.holdsLease()) return
      await cluster.removeWorker(worker.id)
    })
  }

  function repeat(work: Work): void {
    if (stopped) return
    const cancel = clock.after(leaseMs / 3, () => {
      const done = membership.holdsLease() ? work() : Promise.resolve()
      done
        .catch((error: unknown) =>
          log('warn', 'what other processes left could not be read; trying again', { error }),
        )
        .finally(() => repeat(work))
    })
    timers.set(work, cancel)
  }

  return {
    start() {
      for (const work of [runs.recover, events.retell, buryDead]) repeat(work)
    },
    stop() {
      stopped = true
      for (const cancel of timers.values()) cancel()
    },
  }
}

type Work = () => Promise<void>
