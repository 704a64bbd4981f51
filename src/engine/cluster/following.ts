/**
 * Learns what other processes have written (C5 of `membership.ts`): from reports of the store, and
 * from regular polling, because reports may be lost.
 */
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Changes, ClusterStore } from '../../ports/store/cluster.ts'
import type { WorkStore } from '../../ports/store/work.ts'
import type { Runs } from '../executor/runs.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { SharedTexts } from '../streams/shared-texts.ts'
import type { Subscriptions } from '../streams/subscriptions.ts'
import type { Timers } from '../wakes/timers.ts'
import type { HoldBarrier } from './hold-barrier.ts'
import type { VersionOf } from './version-check.ts'

export interface Following {
  start(): void
  stop(): void
}

export interface FollowingDeps {
  readonly cluster: Pick<ClusterStore, 'onChanges'>
  readonly versionOf: VersionOf
  readonly store: Pick<WorkStore, 'readyAgents' | 'nextDueAt'>
  readonly clock: Clock
  readonly log: Log
  readonly ledger: Pick<Ledger, 'heard'>
  readonly runs: Pick<Runs, 'isPresent' | 'taskIds' | 'addReady'>
  readonly subscriptions: Pick<Subscriptions, 'isFollowed' | 'taskIds'>
  readonly timers: Pick<Timers, 'at'>
  /** Discards everything in memory and continues as a new worker. */
  readonly restart: () => Promise<void>
  readonly texts: Pick<SharedTexts, 'hear'>
  readonly barrier: Pick<HoldBarrier, 'hear' | 'forget' | 'noted'>
  readonly pollMs: number
}

/** Tasks whose versions are read with one query. */
const PAGE = 1_000

export function createFollowing(deps: FollowingDeps): Following {
  const {
    cluster,
    versionOf,
    store,
    clock,
    log,
    ledger,
    runs,
    subscriptions,
    timers,
    texts,
    barrier,
    restart,
    pollMs,
  } = deps
  let cancel: (() => void) | undefined
  let unsubscribe: (() => void) | undefined
  let stopped = false

  function hear(changes: Changes): void {
    if (changes.rolledBack) {
      barrier.forget()
      restart().catch((error: unknown) =>
        log('error', 'the store went back, and this process could not register again', { error }),
      )
    }
    for (const { id, version } of changes.tasks ?? []) {
      if (runs.isPresent(id) || subscriptions.isFollowed(id)) ledger.heard(id, version)
    }
    for (const agent of changes.readyAgents ?? []) runs.addReady(agent)
    texts.hear(changes)
    if (changes.holdEpoch !== undefined) barrier.hear(changes.holdEpoch)
    if (changes.noted || changes.everything) barrier.noted()
    if (changes.everything || changes.rolledBack) pollAfter(0)
  }

  function pollAfter(ms: number): void {
    cancel?.()
    if (stopped) return
    cancel = clock.after(ms, () => {
      poll()
        .catch((error: unknown) =>
          log('warn', 'changes of other processes could not be read; trying again', { error }),
        )
        .finally(() => pollAfter(pollMs))
    })
  }

  async function poll(): Promise<void> {
    const taskIds = [...new Set([...runs.taskIds(), ...subscriptions.taskIds()])]
    for (let from = 0; from < taskIds.length; from += PAGE) {
      const page = taskIds.slice(from, from + PAGE)
      const versions = await Promise.all(page.map((id) => versionOf(id)))
      for (const [index, id] of page.entries()) ledger.heard(id, versions[index] ?? 0)
    }
    for (const agent of await store.readyAgents()) runs.addReady(agent)
    const dueAt = await store.nextDueAt()
    if (dueAt !== undefined) timers.at(dueAt)
  }

  return {
    start() {
      unsubscribe = cluster.onChanges(hear)
      pollAfter(pollMs)
    },
    stop() {
      stopped = true
      unsubscribe?.()
      cancel?.()
    },
  }
}
