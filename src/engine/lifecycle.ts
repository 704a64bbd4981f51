/** Starts and stops the parts of the engine in order, and reports their health. */
import { describeError } from '../core/values/describe-error.ts'
import type { Membership } from './cluster/membership.ts'
import type { Peers } from './cluster/peers.ts'
import type { EngineContext } from './context.ts'
import type { Health, Watchdog } from './executor/health.ts'
import { endsWithin } from './executor/pending-work.ts'
import type { Holds } from './holds/holds.ts'
import type { Budgets } from './policies/budgets.ts'
import type { Policies } from './policies/policies.ts'
import { followUpWork } from './upkeep/follow-up-work.ts'
import type { Retention, RetentionReport } from './upkeep/retention.ts'
import type { Scheduler } from './wakes/schedules/scheduler.ts'
import type { Timers } from './wakes/timers.ts'

export interface Lifecycle {
  health(): Promise<Health>
  prune(): Promise<RetentionReport>
  start(): Promise<void>
  drain(timeoutMs: number): Promise<void>
  readonly draining: () => boolean
}

export interface LifecycleDeps {
  readonly context: EngineContext
  readonly holds: Holds
  readonly policies: Pick<Policies, 'refresh'>
  readonly budgets: Pick<Budgets, 'resumeRest'>
  readonly timers: Timers
  readonly scheduler: Pick<Scheduler, 'start' | 'stop'>
  readonly retention: Retention
  readonly watchdog: Watchdog
  readonly membership: Membership
  /** Present in a shared store. */
  readonly peers: Peers | undefined
}

/** A stopping process waits this long for the work that follows the last writes of its runs. */
const LAST_WRITES_MS = 1_000
/** A supervisor that asks for the health does not wait longer than some seconds. */
const CHECK_MS = 2_000
/** A child process that does not end by itself is sent SIGTERM after two seconds. */
const AGENTS_CLOSE_MS = 3_000

export function createLifecycle(deps: LifecycleDeps): Lifecycle {
  const { context, holds, policies, budgets, timers, scheduler, retention, watchdog } = deps
  const { membership, peers } = deps
  const { store, ledger, runs, events, followUps, subscriptions, audit, clock, log } = context
  let draining = false
  let checking: Promise<string | undefined> | undefined

  async function start(): Promise<void> {
    await membership.start()
    peers?.start()
    await policies.refresh()
    // Holds start first. They stop the tasks that a dead process was about to stop, before anything can wake those.
    await holds.start()
    await events.start(() => followUps.start(followUpWork(context)))
    await runs.recover()
    // A budget may cover very many tasks, so the start does not wait for them.
    budgets.resumeRest().catch(notResumed(log))
    await timers.start()
    await scheduler.start()
    retention.start()
    watchdog.start()
  }

  async function drain(timeoutMs: number): Promise<void> {
    draining = true
    // The other processes show it to operators.
    membership.renew().catch(() => undefined)
    watchdog.stop()
    peers?.stop()
    retention.stop()
    timers.stop()
    scheduler.stop()
    await runs.drain(timeoutMs)
    const areClosed = await endsWithin(clock, AGENTS_CLOSE_MS, context.table.closeAll())
    if (!areClosed) log('warn', 'an agent did not close in time')
    const inTime = await endsWithin(clock, LAST_WRITES_MS, finishWrites())
    if (!inTime) log('warn', 'the store did not answer in time; stopping without it')
    const isDone = inTime && followUps.isDone()
    await endsWithin(clock, LAST_WRITES_MS, membership.leave(isDone))
  }

  async function finishWrites(): Promise<void> {
    await events.stop()
    await followUps.stop()
    await ledger.idle()
    await audit.flush()
  }

  /** The problem that the store's own check has found. Calls at the same time share one check. */
  function checkStore(): Promise<string | undefined> {
    checking ??= store
      .check()
      .then(
        () => undefined,
        (error: unknown) => describeError(error).message,
      )
      .finally(() => {
        checking = undefined
      })
    return checking
  }

  async function storeHealth(): Promise<Health['store']> {
    const checked = checkStore()
    if (!(await endsWithin(clock, CHECK_MS, checked))) {
      return { error: `the store has not answered for ${CHECK_MS / 1_000} s` }
    }
    const problem = await checked
    if (problem !== undefined) return { error: problem }
    const error = ledger.trouble()
    return error === undefined ? 'ok' : { error }
  }

  async function health(): Promise<Health> {
    const stored = await storeHealth()
    return {
      worker: membership.worker(),
      ready: stored === 'ok' && !draining && membership.holdsLease(),
      draining,
      store: stored,
      runs: runs.counts(),
      slots: runs.slots(),
      waitingCommands: ledger.waiting(),
      subscribers: subscriptions.readers(),
      blocked: watchdog.blocked(),
      unreadable: ledger.unreadable.size,
    }
  }

  return { health, prune: retention.prune, start, drain, draining: () => draining }
}

function notResumed(log: EngineContext['log']): (error: unknown) => void {
  const text = 'tasks that budgets have stopped were not checked; the next start does it'
  return (error) => log('warn', text, { error })
}
