/**
 * Removes data that is older than the configured age. It works in bounded steps, so that other work never waits long.
 *
 * R1  A context with an open task is kept completely: a parent reads its children, and a run reads its conversation.
 * R2  A task with an undelivered webhook is kept.
 * R3  The row of a removed task is kept as long as idempotency keys are. A repeated message is answered from it and starts
 *     no second task.
 * R4  An event is kept until it is dispatched, however old it is.
 * R5  It runs every hour, and soon after a start if the last run is longer ago, because many
 *     processes live only for minutes.
 */
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { PruneResult } from '../../ports/store/pruning.ts'
import type { Store } from '../../ports/store.ts'
import type { Membership } from '../cluster/membership.ts'
import type { EngineOptions } from '../options.ts'

/** The number of removed items of each kind. */
export interface RetentionReport {
  readonly tasks: number
  readonly events: number
  readonly claims: number
  readonly messages: number
  readonly sessions: number
  readonly holds: number
  readonly audit: number
}

export interface Retention {
  prune(): Promise<RetentionReport>
  start(): void
  stop(): void
}

const STEP = 500
const EVERY_MS = 3_600_000
/** Long enough that a process started for a single request has ended by then. */
const FIRST_MS = 2_000
/** The delay after a failure, or when another process has the duty. */
const AGAIN_MS = 300_000
/** The name of the value that has the time of the last run. */
const LAST_RUN = 'retention.last-run'

export function createRetention(deps: {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly options: EngineOptions
  /** Called after tasks were removed. */
  readonly tasksRemoved: () => Promise<void>
  /** Events received at this time or later are kept (R4). */
  readonly eventsKeptFrom: () => number
  /** Called after events were removed. */
  readonly eventsRemoved: () => Promise<void>
  /** Of several processes on one store, only one runs retention. */
  readonly takeDuty: Membership['takeDuty']
}): Retention {
  const { store, clock, log, options, takeDuty } = deps
  const { tasksRemoved, eventsKeptFrom, eventsRemoved } = deps
  let cancel: (() => void) | undefined
  let stopped = false

  async function prune(): Promise<RetentionReport> {
    const now = clock.now()
    const { tasksForMs, eventsForMs, claimsForMs, messagesForMs, sessionsForMs, holdsForMs } =
      options
    const tasks = await older(tasksForMs, now, (before, after) =>
      store.pruneTasks(before, now, STEP, after),
    )
    if (tasks > 0) await tasksRemoved()
    const claims = await older(claimsForMs, now, counted(store.pruneClaims))
    // Runs after the removal of claims, because claims point to these rows.
    await older(claimsForMs, now, counted(store.pruneRemovedTasks))
    const dispatched = counted((before, limit) =>
      store.pruneEvents(Math.min(before, eventsKeptFrom()), limit),
    )
    const events = await older(eventsForMs, now, dispatched)
    if (events > 0) await eventsRemoved()
    // Dead processes did not give back their duties. The store compares the times.
    const pruneDuties = counted(async (_, limit) => (await store.cluster?.pruneDuties(limit)) ?? 0)
    await older(0, now, pruneDuties)
    return {
      tasks,
      claims,
      events,
      messages: await older(messagesForMs, now, (before, after) =>
        store.pruneContextMessages(before, STEP, after),
      ),
      sessions: await older(sessionsForMs, now, (before, after) =>
        store.pruneSessions(before, STEP, after),
      ),
      holds: await older(holdsForMs, now, counted(store.pruneHolds)),
      audit: await older(options.auditForMs, now, counted(store.pruneAudit)),
    }
  }

  /**
   * Prunes if the last run, by any process, is long enough ago. Returns how long to wait until the
   * next check.
   */
  async function pruneWhenDue(): Promise<number> {
    const last = await store.getValue(LAST_RUN)
    // On a new store, the first interval begins when the first process starts.
    if (typeof last !== 'number') await store.setValue(LAST_RUN, clock.now())
    const ago = typeof last === 'number' ? clock.now() - last : 0
    // A last run in the future was written by a wrong clock, and is ignored.
    if (ago >= 0 && ago < EVERY_MS) return EVERY_MS - ago
    const mine = takeDuty('retention', EVERY_MS)
    if (!(typeof mine === 'boolean' ? mine : await mine)) return AGAIN_MS
    await prune()
    await store.setValue(LAST_RUN, clock.now())
    return EVERY_MS
  }

  function wait(ms: number): void {
    if (stopped) return
    cancel = clock.after(ms, () => {
      pruneWhenDue().then(wait, (error: unknown) => {
        log('warn', 'old data could not be removed; trying again later', { error })
        wait(AGAIN_MS)
      })
    })
  }

  function stop(): void {
    stopped = true
    cancel?.()
  }

  return { prune, start: () => wait(FIRST_MS), stop }
}

type PruneStep = (before: number, after: string | undefined) => Promise<PruneResult>

/**
 * Removes step by step, and lets other work run in between. With an infinite age nothing is
 * removed.
 */
async function older(ageMs: number, now: number, step: PruneStep): Promise<number> {
  if (!Number.isFinite(ageMs)) return 0
  let total = 0
  let after: string | undefined
  for (;;) {
    const pruned = await step(now - ageMs, after)
    total += pruned.removed
    after = pruned.after
    if (after === undefined) return total
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/**
 * Wraps a method that removes every old row. As long as a step removed as many rows as it may,
 * there may be more.
 */
function counted(remove: (before: number, limit: number) => Promise<number>): PruneStep {
  return async (before) => {
    const removed = await remove(before, STEP)
    return removed < STEP ? { removed } : { removed, after: '' }
  }
}
