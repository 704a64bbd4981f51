/**
 * Which tasks run in this process. This file composes the parts. Each part is one file of this folder.
 *
 *   presence   one phase per task, and the moves between phases
 *   slots      how many tasks of an agent run at the same time
 *   launching  commands that may start a run: reserves a slot, and begins the run or discards it
 *   building   makes a run, fresh or from the journal
 *   freezing   commands that may stop a task
 *   warm       runs in memory whose task is stopped or waits for children
 *   backlog    tasks that wait for a slot
 *   takeover   tasks that a dead process left
 *   suspects   those of them that may have ended it
 *
 * N1  A task has at most one live run, and that run holds the token in the task's log.
 * N2  A task that could run and has no run is in the store's `ready` list. Nothing waits in memory only.
 * N3  A task writes the same records whether its run continues in memory or is rebuilt from the journal.
 *
 * Every published write is passed to the run of its task (`createObserve`). A process that shuts down releases every task
 * (`drainRuns`).
 */

import type { LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { SpanLink } from '../../core/values/span-link.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import type { MemoryUsage } from '../../ports/memory.ts'
import type { Worker } from '../../ports/store/cluster.ts'
import type { TaskStore } from '../../ports/store/tasks.ts'
import type { Agent } from '../author/agent.ts'
import type { AgentTable } from '../author/agent-table.ts'
import type { Past } from '../author/conversation.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { ReadableWork } from '../ledger/readable-work.ts'
import type { RunHost } from '../run/host.ts'
import type { Run } from '../run/run.ts'
import type { Subscriptions } from '../streams/subscriptions.ts'
import { type Backlog, createBacklog } from './backlog.ts'
import { createBuilder } from './building.ts'
import { type CommitStop, createCommitStop } from './freezing.ts'
import { createLaunching, type Launching } from './launching.ts'
import { endsWithin } from './pending-work.ts'
import { createPresences, type Move, type Presence, type Presences } from './presence.ts'
import { createSlots, type Slots } from './slots.ts'
import { createSuspects, type Suspects } from './suspects.ts'
import { createProcessDeaths, createStartTask, recover } from './takeover.ts'
import { createWaitingParents, createWarm, type WaitingParents } from './warm.ts'

export interface Runs
  extends Pick<Launching, 'commit' | 'create'>,
    Pick<WaitingParents, 'releaseSlot' | 'reacquireSlot' | 'childEnded'> {
  /**
   * Commits a command that may stop the task. `atBoundary` tells the command whether the task is
   * between two operations. If it is, no operation of the task starts until the command is written
   * or refused.
   */
  readonly commitStop: CommitStop
  /** Called for every published write, in log order per task. */
  readonly observe: Observe
  /** Starts the tasks that dead processes left and those that wait for a slot. */
  recover(): Promise<void>
  /** Another process left a task of the agent in the store's `ready` list. */
  addReady(agent: string): void
  /** The tasks that are run here, or were until a moment ago. */
  readonly taskIds: () => readonly string[]
  readonly isPresent: (taskId: string) => boolean
  /** The task as its run in this process has it. */
  readonly known: (taskId: string) => Task | undefined
  /** The token of the task's run in this process. */
  readonly tokenOf: (taskId: string) => string | undefined
  /** The current trace span of the task's run. */
  readonly segmentOf: (taskId: string) => SpanLink | undefined
  /** Called when other processes may have taken over the tasks that are run here. */
  discardAll(): void
  /**
   * Waits up to `timeoutMs` for each run to reach a boundary, and releases its task to the next
   * process.
   */
  drain(timeoutMs: number): Promise<void>
  readonly slots: Slots['shares']
  readonly counts: () => { readonly live: number; readonly warm: number; readonly busy: number }
  /** The agents with steps in flight. One of them may be blocking the event loop. */
  readonly suspects: () => readonly string[]
  /** The task whose code may block the event loop, if it can be only one. */
  readonly suspect: () => string | undefined
}

export interface RunsDeps {
  readonly store: Pick<TaskStore, 'records'> & ReadableWork
  readonly ledger: Ledger
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
  readonly memory: MemoryUsage
  readonly agents: ReadonlyMap<string, Agent>
  readonly table: Pick<AgentTable, 'usedBy'>
  readonly worker: () => string
  readonly holdsLease: () => boolean
  /**
   * Whether other processes use the store too: then tasks of agents that are not here are left to
   * them.
   */
  readonly isShared: boolean
  /** Present in a shared store. */
  readonly workers?: (() => Promise<readonly Worker[]>) | undefined
  /** Present in a shared store. */
  readonly watchTask?: Subscriptions['watch'] | undefined
  readonly host: RunHost
  readonly maxDeaths: number
  readonly concurrency: number
  readonly tenantShare: number
  readonly warmForMs: number
  readonly memoryLimitBytes: number
  readonly pastOf: (task: Task) => Promise<Past>
}

/** The most tasks of unregistered agents that are stopped at the same time. */
const UNKNOWN_AGENT_SLOTS = 256

export function createRuns(deps: RunsDeps): Runs {
  const { ledger, clock, agents, isShared } = deps
  let stopping = false
  const knows = (name: string): boolean => agents.has(name)
  const takes = (name: string): boolean => !isShared || knows(name)
  const only = (): readonly string[] | undefined => (isShared ? [...agents.keys()] : undefined)
  const shared = { ...deps, draining: () => stopping, knows, takes, only }

  const slots = createSlots({
    limitOf: (name) => agents.get(name)?.concurrency ?? deps.concurrency,
    tenantShare: deps.tenantShare,
    freed: (name) => backlog.pull(name),
  })
  const warm = createWarm(clock, deps.memory, deps, (taskId) => parents.evict(taskId))
  const presences = createPresences(slots, warm, deps.table.usedBy)
  const builder = createBuilder({
    ...shared,
    presences,
    again: (task) => launching.continueAs(task),
    lost: leave,
  })
  const deaths = createProcessDeaths(deps.workers)
  const suspects = createSuspects({
    clock,
    maxDeaths: deps.maxDeaths,
    start(task, from) {
      backlog.addOrphan(task, from)
      backlog.pull(task.agent)
    },
  })
  const takeover = { ...shared, deaths, suspects, launching: () => launching }
  const start = createStartTask(takeover)
  /**
   * 0 while this process may not start tasks: it would reserve tasks that other processes could
   * start.
   */
  function room(name: string): number {
    if (!deps.holdsLease() || !takes(name)) return 0
    return knows(name) ? slots.startable(name) : UNKNOWN_AGENT_SLOTS
  }
  const backlog = createBacklog({ ...shared, room, fullTenants: slots.fullTenants, start })
  const queued = backlog.waiting
  const launching = createLaunching({ ...shared, presences, builder, slots, queued })
  const parents = createWaitingParents({ ...shared, slots, presences, builder })

  function leave(taskId: string): void {
    const presence = presences.get(taskId)
    if (presence !== undefined) presences.move(presence, 'leave')
  }

  function runs(): readonly Run[] {
    return presences.values().flatMap(({ run }) => (run === undefined ? [] : [run]))
  }

  return {
    commit: launching.commit,
    create: launching.create,
    commitStop: createCommitStop(ledger, presences, deps.worker),
    releaseSlot: parents.releaseSlot,
    reacquireSlot: parents.reacquireSlot,
    childEnded: parents.childEnded,
    observe: createObserve({ ...shared, presences, backlog, suspects }),
    recover: () => recover(takeover, backlog, start),
    addReady(agent) {
      if (knows(agent)) backlog.addReady(agent)
    },
    taskIds: () => presences.values().map(({ taskId }) => taskId),
    known: (taskId) => presences.get(taskId)?.run?.task,
    tokenOf: (taskId) => presences.get(taskId)?.run?.token,
    segmentOf: (taskId) => presences.get(taskId)?.run?.segment,
    isPresent: (taskId) => presences.get(taskId) !== undefined,
    discardAll() {
      for (const presence of presences.values()) {
        presence.run?.discard('taken-over')
        presences.move(presence, 'leave')
      }
    },
    async drain(timeoutMs) {
      stopping = true
      backlog.stop()
      suspects.stop()
      warm.close()
      await drainRuns({ ledger, clock, presences }, timeoutMs)
    },
    slots: slots.shares,
    counts: () => ({ live: runs().length, warm: warm.size(), busy: slots.used() }),
    suspects: () => [...new Set(runs().flatMap((run) => (run.steps > 0 ? [run.agent] : [])))],
    suspect() {
      const acting = runs().filter((run) => run.mayAct)
      return acting.length === 1 ? acting[0]?.taskId : undefined
    },
  }
}

/** The additional time that a process which shuts down gives its last writes. */
const LAST_WRITE_MS = 1_000

/**
 * A process that shuts down gives up its tasks, so that the next process can run them. Each is released at a boundary if
 * it reaches one in time. Draining ends in a bounded time, even if the store hangs. A task that was not released becomes
 * an orphan.
 */
async function drainRuns(
  deps: {
    readonly ledger: Pick<Ledger, 'commit' | 'idle'>
    readonly clock: Clock
    readonly presences: Presences
  },
  timeoutMs: number,
): Promise<void> {
  const { ledger, clock, presences } = deps
  let cancel: () => void = () => undefined
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(timeoutMs, resolve)
  })
  const runs = presences.values().flatMap(({ run }) => (run === undefined ? [] : [run]))

  async function releaseAll(): Promise<void> {
    await Promise.allSettled([...runs.map((run) => run.release(late)), ...releaseUnbuilt()])
    // Commands that start a run may have been on their way to the store when draining began.
    await ledger.idle()
    await Promise.allSettled(releaseUnbuilt())
  }

  function releaseUnbuilt(): Promise<unknown>[] {
    return presences
      .values()
      .filter(({ run }) => run === undefined)
      .map(release)
  }

  function release({ taskId, token }: Presence): Promise<unknown> {
    const reason = 'it was in no operation'
    return ledger.commit(taskId, { type: 'release', run: token, reason })
  }

  await endsWithin(clock, timeoutMs + LAST_WRITE_MS, releaseAll())
  cancel()
  for (const run of runs) run.discard('stopping')
  presences.clear()
}

/** Called for every published write, in log order per task. */
type Observe = (task: Task, records: readonly LogRecord[]) => void

/** Passes every write to a task to its run, and moves the task to its next phase when it stopped. */
function createObserve(deps: {
  readonly presences: Presences
  readonly backlog: Pick<Backlog, 'addReady'>
  readonly suspects: Pick<Suspects, 'observe'>
  readonly worker: () => string
  readonly draining: () => boolean
  /** Whether this process starts tasks of that agent. */
  readonly takes: (agent: string) => boolean
}): Observe {
  const { presences, backlog, suspects, worker, draining, takes } = deps

  function observeHere(presence: Presence, task: Task, records: readonly LogRecord[]): void {
    const { run, building } = presence
    if (run !== undefined && ranElsewhere(run, task, records)) {
      run.discard('taken-over')
      presences.move(presence, 'leave')
      return
    }
    run?.observe(records, task)
    if (building !== undefined) {
      building.task = task
      building.records.push(...records)
    }
    if (presence.phase === 'warm' || task.run?.token !== presence.token) {
      presences.move(presence, moveAfterStop(presence, task))
    }
  }

  /**
   * Whether another process has run the task, or the store has lost what the run wrote. The run in
   * memory is then out of date.
   */
  function ranElsewhere({ task: seen }: Run, task: Task, records: readonly LogRecord[]): boolean {
    if (seen.version > task.version) return true
    return records.some((record) => {
      const run = 'run' in record ? record.run : undefined
      return run !== undefined && run.worker !== worker()
    })
  }

  /** The next move of a task whose log names another run than the one in memory, or none. */
  function moveAfterStop({ run }: Presence, task: Task): Move {
    if (isTerminal(task.state) || run === undefined || run.dead) return 'leave'
    if (task.run !== undefined && task.run.worker !== worker()) {
      run.discard('taken-over')
      return 'leave'
    }
    // This process is shutting down and released the task. `drain` discards the run.
    return task.state === 'working' && task.run === undefined && draining() ? 'leave' : 'stop'
  }

  return (task, records) => {
    const presence = presences.get(task.id)
    if (presence !== undefined) observeHere(presence, task, records)
    suspects.observe(task)
    if (waitsForSlot(task) && takes(task.agent)) backlog.addReady(task.agent)
  }
}

function waitsForSlot({ state, run, holds }: Task): boolean {
  return (state === 'submitted' || state === 'working') && run === undefined && holds.length === 0
}
