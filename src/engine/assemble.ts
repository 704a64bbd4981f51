/** Wires the parts of the engine together, and starts and stops them in order. */

import { describeError } from '../core/describe-error.ts'
import { nextDueAt } from '../core/due.ts'
import { LullError } from '../core/errors.ts'
import type { LogRecord } from '../core/records.ts'
import { isTerminal } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import { cancelChildren } from './cancel-task.ts'
import { createChildHost } from './child-host.ts'
import type { EngineContext } from './context.ts'
import type { EngineDeps } from './deps.ts'
import { createEvents } from './events.ts'
import { createFollowUps } from './follow-ups.ts'
import { createWatchdog, type Health } from './health.ts'
import { createHolds, type Holds } from './holds.ts'
import { readableWork } from './ledger/readable-work.ts'
import { createLedger } from './ledger.ts'
import { createLiveTexts } from './live-texts.ts'
import { logOf } from './log-of.ts'
import { withDefaults } from './options.ts'
import { pastOfTask } from './past.ts'
import { logPolicyStops } from './policy-log.ts'
import { createRetention, type RetentionReport } from './retention.ts'
import type { RunHost } from './run/host.ts'
import { createRuns } from './runs.ts'
import { safeLog } from './safe-log.ts'
import { fireAt } from './schedule.ts'
import { createSubscriptions } from './subscriptions.ts'
import { endsWithin } from './time-limit.ts'
import { createTimers } from './timers.ts'
import { createWakeByEvent } from './wake-by-event.ts'
import { createWakeByTime } from './wake-by-time.ts'

/** A stopping process waits this long for what follows the writes of its runs. */
const LAST_WRITES_MS = 1_000

export interface Lifecycle {
  health(): Promise<Health>
  prune(): Promise<RetentionReport>
  start(): Promise<void>
  drain(timeoutMs: number): Promise<void>
}

export interface Assembly {
  readonly context: EngineContext
  readonly holds: Holds
  readonly lifecycle: Lifecycle
}

export function assemble(deps: EngineDeps): Assembly {
  const { store, clock, ids, signer, memory } = deps
  const log = safeLog(deps.log)
  const options = withDefaults(deps.options)
  const agents = new Map(deps.agents.map((agent) => [agent.name, agent]))
  if (agents.size < deps.agents.length) {
    throw new LullError('INVALID_INPUT', {
      path: 'agents',
      problem: 'two agents bear the same name',
    })
  }
  const worker = `worker-${ids.uuid()}`
  let draining = false

  const live = createLiveTexts()
  const subscriptions = createSubscriptions(store, (taskId) => ledger.peek(taskId)?.version, live)
  const ledger = createLedger({ store, clock, signer, log, published, limits: options })
  const work = readableWork(store, ledger.unreadable)
  const holds = createHolds(() => context)
  const watchdog = createWatchdog(clock, log, options.blockMs, () => runs.suspects())
  const host: RunHost = {
    clock,
    ids,
    log,
    hash: signer.hash,
    limits: options,
    live,
    commit: (taskId, command) => ledger.commit(taskId, command),
    records: (taskId) => logOf(store, taskId),
    fireAt: (conditions) => fireAt(conditions, clock.now()),
    eventsNow: async () => events.lastPos(),
    releaseSlot: (taskId) => runs.releaseSlot(taskId),
    reacquireSlot: (taskId) => runs.reacquireSlot(taskId),
    blocked: watchdog.report,
    children: createChildHost(() => context, holds),
  }
  const runs = createRuns({
    store: { ...work, records: (...page) => store.records(...page) },
    ledger,
    clock,
    ids,
    log,
    memory,
    agents,
    worker,
    host,
    ...options,
    pastOf: (task) => pastOfTask({ store, ledger }, task),
  })
  const events = createEvents({ store, clock, log, wake: createWakeByEvent({ ledger, runs }) })
  const timers = createTimers({
    store: work,
    clock,
    log,
    wake: createWakeByTime({ ledger, runs, ids }),
  })
  const followUps = createFollowUps({ store, ledger, clock, log })
  const retention = createRetention({
    store,
    clock,
    log,
    options,
    tasksRemoved: ledger.forgetEnded,
    eventsRemoved: events.removed,
  })
  const context: EngineContext = {
    store,
    ledger,
    runs,
    events,
    followUps,
    subscriptions,
    agents,
    clock,
    ids,
    signer,
    log,
    options,
    draining: () => draining,
  }

  /** After every durable write, in log order: the run follows, readers read, clocks are set, the parent learns. */
  function published(task: Task, records: readonly LogRecord[], before: Task | undefined): void {
    logPolicyStops(log, task, records)
    runs.observe(task, records)
    subscriptions.publish(task, records, before)
    const dueAt = nextDueAt(task)
    if (dueAt !== undefined) timers.at(dueAt)
    const stops = records.some(({ type }) => type === 'parked' || type === 'paused')
    if (stops && events.mayHaveMissed(task)) {
      followUps.add(task, events.lookBack).catch(() => undefined)
    }
    if (isTerminal(task.state) && task.parentId !== undefined) runs.childEnded(task.parentId)
  }

  async function start(): Promise<void> {
    // Holds first: nothing may be woken that a dying process was about to stop.
    await holds.start()
    await events.start(() =>
      followUps.start({
        stopped: events.lookBack,
        canceled: (task) => cancelChildren(context, task),
      }),
    )
    await runs.recover()
    await timers.start()
    retention.start()
    watchdog.start()
  }

  async function drain(timeoutMs: number): Promise<void> {
    draining = true
    watchdog.stop()
    retention.stop()
    timers.stop()
    await runs.drain(timeoutMs)
    const inTime = await endsWithin(clock, LAST_WRITES_MS, finishWrites())
    if (!inTime) log('warn', 'the store did not answer in time; stopping without it')
  }

  async function finishWrites(): Promise<void> {
    await events.stop()
    await followUps.stop()
    await ledger.idle()
  }

  async function health(): Promise<Health> {
    const stored = await store.check().then(
      () => {
        const error = ledger.trouble()
        return error === undefined ? ('ok' as const) : { error }
      },
      (error: unknown) => ({ error: describeError(error).message }),
    )
    return {
      ready: stored === 'ok' && !draining,
      draining,
      store: stored,
      runs: runs.counts(),
      subscribers: subscriptions.readers(),
      blocked: watchdog.blocked(),
      unreadable: ledger.unreadable.size,
    }
  }

  return { context, holds, lifecycle: { health, prune: retention.prune, start, drain } }
}
