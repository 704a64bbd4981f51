/** Makes the parts of the engine and wires them together. */

import type { Task } from '../core/task.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { noMeter } from '../ports/meter.ts'
import type { ClusterStore } from '../ports/store/cluster.ts'
import type { Store } from '../ports/store.ts'
import { noTracing } from '../ports/tracing.ts'
import type { Agent } from './author/agent.ts'
import { createAgentTable } from './author/agent-table.ts'
import {
  createMembership,
  createSoleMembership,
  type Membership,
  type MembershipDeps,
} from './cluster/membership.ts'
import { createPeers } from './cluster/peers.ts'
import { createStoreClock } from './cluster/store-clock.ts'
import { createVersionCheck } from './cluster/version-check.ts'
import { createWorkerList, type WorkerList } from './cluster/worker-list.ts'
import type { EngineContext } from './context.ts'
import type { EngineDeps } from './deps.ts'
import { createWatchdog } from './executor/health.ts'
import { createRunHost } from './executor/run-host.ts'
import { createRuns, type Runs } from './executor/runs.ts'
import { createHolds, type Holds } from './holds/holds.ts'
import { createLedger, type Ledger } from './ledger/ledger.ts'
import { createPublishing, type Publishing } from './ledger/publishing.ts'
import { readableWork } from './ledger/readable-work.ts'
import { createTaskPlaces, type TaskPlaces } from './ledger/task-places.ts'
import type { SharedTasks } from './ledger/task-queues.ts'
import { createLifecycle, type Lifecycle, type LifecycleDeps } from './lifecycle.ts'
import { createQuotas } from './limits/quotas.ts'
import { createAudit } from './observe/audit.ts'
import { safeLog, taskLog } from './observe/task-log.ts'
import { type EngineOptions, withDefaults } from './options.ts'
import type { Budgets } from './policies/budgets.ts'
import { createPolicies } from './policies/policies.ts'
import { createPolicing } from './policies/policing.ts'
import type { Rules } from './policies/rules.ts'
import { createPastVersions, type PastVersions, pastOfTask } from './requests/past.ts'
import { createReminderRate } from './requests/remind/reminder-rate.ts'
import { createSend, type Send } from './requests/send/send.ts'
import { createLiveTexts } from './streams/live-texts.ts'
import { createSubscriptions, type ReadRecords } from './streams/subscriptions.ts'
import { followUpWork } from './upkeep/follow-up-work.ts'
import { createFollowUps } from './upkeep/follow-ups.ts'
import { createRetention, type Retention } from './upkeep/retention.ts'
import { createEvents, type Events } from './wakes/events.ts'
import { createScheduler, type Scheduler } from './wakes/schedules/scheduler.ts'
import { createSchedules, type Schedules } from './wakes/schedules/schedules.ts'
import { createTimers } from './wakes/timers.ts'
import { createWakeByChild } from './wakes/wake-by-child.ts'
import { createWakeByEvent } from './wakes/wake-by-event.ts'
import { createWakeByTime } from './wakes/wake-by-time.ts'

type Parts = Omit<LifecycleDeps, 'scheduler' | 'retention' | 'watchdog'>

export interface Assembly {
  /** @throws LullError `INVALID_INPUT` when two have one name */
  readonly replaceAgents: (agents: readonly Agent[]) => Promise<void>
  readonly context: EngineContext
  readonly send: Send
  readonly schedules: Schedules
  readonly holds: Holds
  readonly budgets: Budgets
  readonly rules: Rules
  readonly lifecycle: Lifecycle
  readonly workers: WorkerList
}

/**
 * Parts that need each other get `context` or `parts` before all of it is made. Its getters throw until then, so a part
 * reads it in its methods and not while it is made.
 */
export function assemble(deps: EngineDeps): Assembly {
  const { store, ids, signer, memory, version = '', tracing = noTracing, meter = noMeter } = deps
  const { cluster } = store
  const log = taskLog(safeLog(deps.log), (id) => runs.known(id) ?? ledger.peek(id))
  const options = withDefaults(deps.options)
  const { agents, ...table } = createAgentTable(deps.agents, log)
  const { clock, membership } = joining(deps, log, options, {
    note: () => ({
      ...workers.note(),
      doneUntil: followUps.doneUntil(),
      holdEpoch: peers?.barrier.reached() ?? 0,
    }),
    agents: () => [...agents.keys()],
    suspect: () => runs.suspect(),
    heardHolds: (epoch) => peers?.barrier.hear(epoch),
    lost: () => forgetAll(runs, ledger, holds, versions),
  })
  const places = createTaskPlaces(store)
  const base = { store, places, clock, ids, log, tracing, meter }
  const shared = { ...base, agents, table, signer, version, options }
  const context: EngineContext = {
    ...shared,
    get ledger() {
      return ledger
    },
    get runs() {
      return runs
    },
    get events() {
      return events
    },
    get childEnds() {
      return childEnds
    },
    get followUps() {
      return followUps
    },
    get subscriptions() {
      return subscriptions
    },
    get budgetChecks() {
      return policing.checks
    },
    quotas: createQuotas(shared),
    admitReminders: createReminderRate(shared),
    audit: createAudit(shared),
    takeDuty: membership.takeDuty,
    draining: () => lifecycle.draining(),
  }
  const live = createLiveTexts()
  const workers = createWorkerList(context, membership, deps.process, clock.elapsed())
  const policies = createPolicies(shared, (taskId) => runs.tokenOf(taskId))
  const parts: Parts = {
    context,
    policies,
    membership,
    get holds() {
      return holds
    },
    get peers() {
      return peers
    },
    get budgets() {
      return policing.budgets
    },
    get timers() {
      return timers
    },
  }
  const policing = createPolicing(parts, policies)
  const peers = cluster && createPeers(parts, { cluster, membership, live })
  const subscriptions = createSubscriptions(
    recordsIn(store, places),
    (taskId) => ledger.peek(taskId)?.version,
    peers?.texts ?? live,
  )
  const ledger = createLedger({
    ...shared,
    limits: options,
    segmentOf: (taskId) => runs.segmentOf(taskId),
    holdsForNew: (task) => holds.forNew(task),
    spendingOf: policies.spendingOf,
    ...publishTo(() => publishing),
    shared: cluster && sharedTasks(cluster, parts),
  })
  const work = readableWork(store, ledger.unreadable, places)
  const holds = createHolds(
    context,
    cluster && peers && { read: cluster.holdsInEffect, everywhere: peers.barrier.passed },
  )
  const watchdog = createWatchdog(clock, log, options.blockMs, () => runs.suspects())
  const starting = { lease: membership, barrier: peers?.barrier }
  const host = createRunHost(shared, context, { live, holds, watchdog, ...starting })
  const runs = createRuns({
    ...shared,
    ...options,
    store: { ...work, records: (...page) => store.records(...page) },
    ledger,
    memory,
    ...membership,
    isShared: cluster !== undefined,
    workers: cluster && (() => cluster.workers()),
    watchTask: cluster && subscriptions.watch,
    host,
    pastOf: (task) => pastOfTask({ store, ledger, options, versions }, task),
  })
  const versions = createPastVersions(clock)
  const wake = createWakeByEvent({ ledger, runs })
  const events = createEvents({ ...shared, ledger, wake, before: policing.fire.onEvent })
  const childEnds = createWakeByChild({ store, ledger, runs })
  const wakeByTime = createWakeByTime({ ledger, runs, ids, clock, meter, before: beforeDue(parts) })
  const timers = createTimers({ store: work, clock, log, wake: wakeByTime })
  const followUps = createFollowUps({ ...shared, ledger, isShared: cluster !== undefined })
  const retention = retentionOf(shared, ledger, events, membership)
  const texts = peers?.texts
  const publishing = createPublishing({ ...context, timers, texts, work: followUpWork(context) })
  const { scheduler, ...controls } = sending(context)
  const lifecycle = createLifecycle({ ...parts, scheduler, retention, watchdog })
  return { context, ...controls, ...policing, holds, lifecycle, workers }
}

/** An event or a child that came before the instant at which a task is due wakes it first. */
function beforeDue({ context }: Pick<Parts, 'context'>): (task: Task) => Promise<void> | undefined {
  return (task) => {
    const event = context.events.beforeDue(task)
    if (task.suspension?.children === undefined) return event
    return Promise.resolve(event).then(() => context.childEnds.lookBack(task))
  }
}

/** Nothing in memory is valid any more: the lease was lost, or the store went back. */
function forgetAll(runs: Runs, ledger: Ledger, holds: Holds, versions: PastVersions): void {
  versions.clear()
  runs.discardAll()
  ledger.forgetAll()
  holds.forgetEpoch()
}

/** @param publishingOf called only after the engine is assembled */
function publishTo(publishingOf: () => Publishing): Publishing {
  return {
    published: (...write) => publishingOf().published(...write),
    learned: (...write) => publishingOf().learned(...write),
    foundUnreadable: (task) => publishingOf().foundUnreadable(task),
  }
}

function retentionOf(
  shared: Pick<EngineContext, 'store' | 'clock' | 'log' | 'options'>,
  ledger: Ledger,
  events: Events,
  { takeDuty }: Membership,
): Retention {
  return createRetention({
    ...shared,
    tasksRemoved: ledger.removed,
    eventsKeptFrom: events.keptFrom,
    eventsRemoved: events.removed,
    takeDuty,
  })
}

/** What sends messages, which are callers and schedules, and what replaces the agents that get them. */
function sending(
  context: EngineContext,
): Pick<Assembly, 'send' | 'schedules' | 'replaceAgents'> & { readonly scheduler: Scheduler } {
  const send = createSend(context)
  const scheduler = createScheduler({ context, send })
  return {
    send,
    scheduler,
    schedules: createSchedules(scheduler, context.clock),
    // Tasks that waited for an agent start now.
    async replaceAgents(given) {
      context.table.replace(given)
      scheduler.stop()
      await scheduler.start()
      await context.runs.recover()
    },
  }
}

/** Reads a page of the log of a task that is followed by its id. */
function recordsIn(store: Store, places: TaskPlaces): ReadRecords {
  return async (taskId, after, limit) => {
    const key = await places.keyOf(taskId)
    return key === undefined ? [] : store.records(key.tenant, taskId, after, limit)
  }
}

/** What the ledger asks when other processes write too. */
function sharedTasks(cluster: ClusterStore, parts: Pick<Parts, 'context' | 'holds'>): SharedTasks {
  return {
    versionOf: createVersionCheck(cluster, parts.context.places),
    known: (taskId) => parts.context.runs.known(taskId),
    holdEpoch: () => parts.holds.epoch(),
    refresh(tenant) {
      const { context, holds } = parts
      return Promise.all([holds.refresh(), context.events.reset(tenant)])
    },
  }
}

/** The clock of the engine and its membership: of a shared store, or as the only process of an embedded one. */
function joining(
  { store: { cluster }, clock: local, ids, meter }: EngineDeps,
  log: Log,
  { leaseMs, blockedAfterMs }: EngineOptions,
  callbacks: Pick<MembershipDeps, 'agents' | 'note' | 'suspect' | 'lost' | 'heardHolds'>,
): { readonly clock: Clock; readonly membership: Membership } {
  if (cluster === undefined) return { clock: local, membership: createSoleMembership(ids) }
  const clock = createStoreClock(local)
  const membership = createMembership({
    ...callbacks,
    lost() {
      meter?.add('lull_leases_lost_total')
      callbacks.lost()
    },
    cluster,
    clock: local,
    ids,
    log,
    leaseMs,
    blockedAfterMs,
    setOffset: clock.setOffset,
  })
  return { clock, membership }
}
