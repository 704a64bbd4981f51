/**
 * The one way to write. Commands queue per task. Once per event-loop turn they are decided, written in batches (one fsync
 * each), published to the listener, and only then answered. `ledger/task-entry.ts` has the phases of a task,
 * `ledger/flusher.ts` the flush rule.
 *
 *   commit ──▶ queue ──flush──▶ decide ──▶ store ──▶ published ──▶ answer
 *   create, decided ahead ──▶ begun ───────┘
 *
 * Invariants (ledger.test.ts):
 *  L1  a caller is answered after its records are durable, never before;
 *  L2  commands of one task are decided in the order they came, on the state the ones before them made;
 *  L3  commands whose compare-and-set failed are decided again on the new state; the failed state
 *      is never published;
 *  L4  when the store cannot write, every waiting caller gets the error, and the task in memory is
 *      the one on disk;
 *  L5  code that gets a task before its commit is durable sends nothing of it out of the process
 *      until it is published;
 *  L6  a commit whose content cannot be stored fails the command that brought it, and no other;
 *  L7  a log that cannot be folded stops its task alone: it is shown as paused, and commands to it are refused;
 *  L8  every command that creates a task gets the holds of the new task from the ledger when it is
 *      decided.
 */

import type { Command, HoldMark } from '../../core/commands.ts'
import { LullError } from '../../core/errors.ts'
import type { Signer } from '../../core/receipts/receipt.ts'
import type { LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { SpanLink } from '../../core/values/span-link.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { TaskStore } from '../../ports/store/tasks.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { HoldableTask } from '../holds/hold-scope.ts'
import { createRecordTracing } from '../observe/trace-records.ts'
import type { SpendingOf } from '../policies/policies.ts'
import { createFlusher } from './flusher.ts'
import { createLoader } from './loader.ts'
import {
  type CommitExtras,
  type Committed,
  createPlanner,
  createWaiting,
  type LazyCommand,
} from './plan.ts'
import { createRead, type ReadTask } from './read-task.ts'
import { createSettlement } from './settlement.ts'
import { createStoreTrouble } from './store-trouble.ts'
import { createTaskCache, type TaskCache } from './task-cache.ts'
import { forgetUnderWay, isSettled, type TaskEntry } from './task-entry.ts'
import type { TaskPlaces } from './task-places.ts'
import { createTaskQueues, type SharedTasks } from './task-queues.ts'

export type { CommitExtras, Committed, LazyCommand } from './plan.ts'

/** Returns the holds that cover a new task with these properties. */
export type HoldsForNew = (task: HoldableTask) => readonly HoldMark[]

export interface Ledger {
  /**
   * Writes a command to a task.
   * @throws LullError the refusal, `RECORD_REFUSED`, `TASK_UNREADABLE` or `STORE_UNAVAILABLE`; then
   * nothing was written
   */
  commit(taskId: string, command: LazyCommand, extras?: CommitExtras): Promise<Committed>
  /**
   * Writes a command that creates a task, without reading the store for it first. With `begun`, the
   * create is decided at once and `begun` is called with the task, so that commands which follow
   * join its commit (L5). The command must name the holds of the new task (L8). It is a function,
   * because it is called again when the store has newer holds.
   */
  create(
    taskId: string,
    command: (holdsFor: HoldsForNew) => Command,
    extras?: CommitExtras,
    begun?: (task: Task) => void,
  ): Promise<Committed>
  /**
   * Reads a task. One whose log cannot be folded is returned as paused (L7). `tenant` is that of the
   * caller, or of another task that names this one, if it is known.
   * @throws LullError `STORE_UNAVAILABLE`
   */
  read: ReadTask
  /**
   * The task if it is in memory. Always undefined in a shared store, because another process
   * may have written since.
   */
  peek(taskId: string): Task | undefined
  /**
   * Called when another process reports that it wrote this version of a task that is followed here.
   */
  heard(taskId: string, version: number): void
  /**
   * Resolves when this version of the task, or a later one, was published here, or when the store
   * has lost it.
   * @throws LullError `STORE_UNAVAILABLE`
   */
  reach(taskId: string, version: number): Promise<void>
  /** Discards every task in memory, because the store may have lost writes. */
  forgetAll(): void
  /** The ids of tasks that were found unreadable. */
  readonly unreadable: ReadonlySet<string>
  /**
   * Called before a new message is accepted.
   * @throws LullError `OVERLOADED`
   */
  admit(): void
  /** How many commands wait for the store. */
  readonly waiting: () => number
  /** The error of the last commit, if none has succeeded since. */
  trouble(): string | undefined
  /** Called after retention has removed tasks: drops from memory those that may be among them. */
  removed(): Promise<void>
  /** Resolves when every create decided so far is durable, or has failed. */
  createsSettled(): Promise<void>
  /**
   * Resolves when every commit under way has been answered, and the runs that it starts have begun.
   */
  commitsSettled(): Promise<void>
  /** Resolves when every command given so far is settled. */
  idle(): Promise<void>
}

export interface LedgerDeps {
  readonly store: Pick<TaskStore, 'commit' | 'load' | 'row' | 'records'>
  readonly places: TaskPlaces
  readonly clock: Clock
  readonly signer: Signer
  readonly log: Log
  /** Called after each durable write, in log order per task, before its callers are answered. */
  readonly published: (task: Task, records: readonly LogRecord[], before: Task | undefined) => void
  /** Called once for each task that is found unreadable. */
  readonly foundUnreadable: (task: Task) => void
  /**
   * Called like `published`, for records that other processes wrote. Empty if it is not known which
   * records are new.
   */
  readonly learned: LedgerDeps['published']
  readonly limits: LedgerLimits
  /** Default: nothing is traced. */
  readonly tracing?: Tracing
  /** The trace span of the task's run in this process. */
  readonly segmentOf?: (taskId: string) => SpanLink | undefined
  readonly holdsForNew: HoldsForNew
  /** Computes how much a commit uses of budgets. Default: nothing. */
  readonly spendingOf?: SpendingOf
  /** Present when other processes write too. */
  readonly shared?: SharedTasks | undefined
}

export interface LedgerLimits extends AdmissionLimits {
  /** The most settled tasks that are kept in memory for reading. */
  readonly cachedTasks: number
  /** The approximate bytes of those tasks. */
  readonly cachedBytes: number
}

const noExtras: CommitExtras = {}

export function createLedger(deps: LedgerDeps): Ledger {
  const { store, clock, log, limits, shared } = deps
  const cache = createTaskCache({ tasks: limits.cachedTasks, bytes: limits.cachedBytes })
  const admission = createAdmission(limits)
  const trouble = createStoreTrouble(clock, log)
  const loader = createLoader(store, deps.places, deps.signer, log, deps.foundUnreadable)
  const traces = createRecordTracing(deps)
  const planner = createPlanner({ ...deps, traces, holdEpoch: shared?.holdEpoch })
  const settlement = createSettlement({
    ...deps,
    cache,
    trouble,
    queues: () => queues,
    refresh: shared?.refresh ?? (async () => undefined),
  })
  const flusher = createFlusher({
    store,
    planner,
    decide: (entry) => queues.decide(entry),
    ...settlement,
  })
  const { idle, check: checkIdle } = createIdleWatch(cache)
  const queues = createTaskQueues({ ...deps, cache, planner, loader, flusher, settled: checkIdle })

  function enqueue(
    taskId: string,
    command: LazyCommand,
    creates: boolean,
    extras: CommitExtras = noExtras,
    begun?: (task: Task) => void,
  ): Promise<Committed> {
    return new Promise((resolve, reject) => {
      const { bytes = 0 } = extras
      const spans = traces.begin()
      admission.entered(bytes)
      const one = createWaiting(command, creates, extras, {
        spans,
        resolve(committed) {
          admission.left(bytes)
          resolve(committed)
        },
        reject(error) {
          admission.left(bytes)
          reject(error)
        },
      })
      queues.accept(cache.use(taskId), one, begun)
    })
  }

  return {
    commit: (taskId, command, extras) => enqueue(taskId, command, false, extras),
    create: (taskId, command, extras, begun) =>
      enqueue(taskId, () => command(deps.holdsForNew), true, extras, begun),
    read: createRead({ cache, loader, queues, versionOf: shared?.versionOf }),
    peek: (taskId) => (shared === undefined ? cache.get(taskId)?.task : undefined),
    heard: (taskId, version) => queues.heard(cache.use(taskId), version),
    reach: (taskId, version) => queues.reach(cache.use(taskId), version),
    forgetAll() {
      for (const entry of cache.entries()) {
        if (isSettled(entry)) cache.delete(entry.id)
        else forgetUnderWay(entry)
      }
      loader.forgetAll()
    },
    unreadable: loader.unreadable,
    admit: admission.check,
    waiting: admission.waiting,
    trouble: trouble.current,
    removed() {
      for (const entry of cache.entries()) if (mayBeRemoved(entry)) cache.delete(entry.id)
      return loader.forgetRemoved()
    },
    createsSettled: () => queues.createsSettled(),
    commitsSettled: () => queues.commitsSettled(),
    idle,
  }
}

/** The state of an unreadable task is not known, so it may have ended. */
function mayBeRemoved(entry: TaskEntry): boolean {
  if (entry.phase === 'unreadable') return true
  return entry.task !== undefined && isTerminal(entry.task.state) && isSettled(entry)
}

/**
 * Back pressure: counts the commands that wait for the store, and refuses new messages above a
 * limit.
 *
 * A1  Only new messages and reminders are refused. Commands that stop or end work, and the records of runs, never are.
 */
interface Admission {
  /**
   * Called before a new message is accepted.
   * @throws LullError `OVERLOADED`
   */
  check(): void
  entered(bytes: number): void
  left(bytes: number): void
  /** How many commands wait for the store. */
  readonly waiting: () => number
}

interface AdmissionLimits {
  /** Commands that wait for the store. */
  readonly waitingCommands: number
  /** Bytes of the messages among them. */
  readonly waitingBytes: number
}

const RETRY_AFTER_MS = 1_000

function createAdmission(limits: AdmissionLimits): Admission {
  let waitingCommands = 0
  let waitingBytes = 0

  function refuseAbove(limit: keyof AdmissionLimits, value: number): void {
    if (value < limits[limit]) return
    throw new LullError('OVERLOADED', {
      limit,
      value: limits[limit],
      retryAfterMs: RETRY_AFTER_MS,
    })
  }

  return {
    check() {
      refuseAbove('waitingCommands', waitingCommands)
      refuseAbove('waitingBytes', waitingBytes)
    },
    entered(bytes) {
      waitingCommands++
      waitingBytes += bytes
    },
    left(bytes) {
      waitingCommands--
      waitingBytes -= bytes
    },
    waiting: () => waitingCommands,
  }
}

/** Lets callers wait until no task in memory has queued commands, reads or commits. */
interface IdleWatch {
  /** Resolves when every entry is settled: no command, read or commit is in progress. */
  idle(): Promise<void>
  /** Called when an entry may have become settled. */
  readonly check: () => void
}

function createIdleWatch(cache: Pick<TaskCache, 'entries'>): IdleWatch {
  let waiting: (() => void)[] = []

  function isIdle(): boolean {
    for (const entry of cache.entries()) if (!isSettled(entry)) return false
    return true
  }

  return {
    idle: () =>
      isIdle() ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)),
    check() {
      if (waiting.length === 0 || !isIdle()) return
      const resolved = waiting
      waiting = []
      for (const resolve of resolved) resolve()
    },
  }
}
