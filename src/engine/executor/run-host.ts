/** What the engine offers to the runs of tasks. */

import type { HoldBarrier } from '../cluster/hold-barrier.ts'
import type { Membership } from '../cluster/membership.ts'
import type { EngineContext } from '../context.ts'
import type { Holds } from '../holds/holds.ts'
import { logOf } from '../ledger/log-of.ts'
import type { RunHost } from '../run/host.ts'
import type { LiveTexts } from '../streams/live-texts.ts'
import { fireAt } from '../wakes/fire-at.ts'
import { createChildHost } from './child-host.ts'
import type { Watchdog } from './health.ts'

export interface RunHostDeps {
  readonly live: LiveTexts
  readonly holds: Holds
  readonly watchdog: Watchdog
  readonly lease: Pick<Membership, 'holdsLease' | 'whenLeased'>
  /** Present in a shared store. */
  readonly barrier: Pick<HoldBarrier, 'isReached' | 'whenReached'> | undefined
}

/** @param context its parts are read only after the engine is assembled */
export function createRunHost(
  shared: Pick<EngineContext, 'clock' | 'ids' | 'log' | 'tracing' | 'options' | 'store'>,
  context: EngineContext,
  { live, holds, watchdog, lease, barrier }: RunHostDeps,
): RunHost {
  const { clock, ids, log, tracing, options, store } = shared
  /**
   * C3 and C8 of `cluster/membership.ts`: a step may start only with a valid lease and all known
   * holds read.
   */
  const mayExecute = (): boolean => lease.holdsLease() && (barrier?.isReached() ?? true)

  async function whenMayExecute(): Promise<void> {
    while (!mayExecute()) {
      await lease.whenLeased()
      await barrier?.whenReached()
    }
  }

  return {
    clock,
    ids,
    log,
    tracing,
    live,
    limits: options,
    commit: (taskId, command) => context.ledger.commit(taskId, command),
    records: (taskId) => logOf(store, taskId),
    fireAt: (conditions) => fireAt(conditions, clock.now()),
    async eventsNow() {
      const { events } = context
      await events.refresh()
      return events.lastPos()
    },
    lastEventPos: () => context.events.lastPos(),
    releaseSlot: (taskId) => context.runs.releaseSlot(taskId),
    reacquireSlot: (taskId) => context.runs.reacquireSlot(taskId),
    blocked: watchdog.report,
    running: (taskId) => store.cluster?.loopGuard?.running(taskId),
    mayExecute: () => (mayExecute() ? undefined : whenMayExecute()),
    checkBudgets: (task) => context.budgetChecks.check(task),
    children: createChildHost(context, holds),
  }
}
