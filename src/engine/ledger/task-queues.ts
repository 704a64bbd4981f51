/** Keeps the commands of each task in order, from the call to the commit that writes them. */

import type { Task } from '../../core/task.ts'
import type { VersionOf } from '../cluster/version-check.ts'
import { answerAll, rejectAll } from './answers.ts'
import type { Flusher } from './flusher.ts'
import type { Loader } from './loader.ts'
import type { Plan, Planner, Waiting } from './plan.ts'
import { createEntryLoading, type EntryLoadingDeps } from './read-task.ts'
import type { TaskCache } from './task-cache.ts'
import {
  forget,
  isNotYetDurable,
  isSettled,
  move,
  type Phase,
  type TaskEntry,
  unreadableError,
} from './task-entry.ts'

export interface TaskQueues {
  readonly accept: Accept
  /**
   * Decides the queued commands. Undefined when there is nothing to write; then the callers are
   * answered.
   */
  decide(entry: TaskEntry): Plan | undefined
  /**
   * Called when the entry has finished a read or a commit. It becomes settled, or its queued
   * commands are decided next.
   */
  proceed(entry: TaskEntry): void
  /** Discards the task in memory. It is read before the next decision. */
  reread(entry: TaskEntry): void
  /**
   * Like `reread`, after writes of other processes: the task in memory is an earlier version, so
   * only later records are read.
   */
  catchUp(entry: TaskEntry): void
  /** Called when another process reported that it wrote this version. */
  heard(entry: TaskEntry, version: number): void
  /**
   * Resolves when the entry has this version or a later one, or the store has neither.
   * @throws LullError `STORE_UNAVAILABLE`
   */
  reach(entry: TaskEntry, version: number): Promise<void>
  /** Resolves when the store was read for the entry. @throws LullError `STORE_UNAVAILABLE` */
  loaded(entry: TaskEntry): Promise<void>
  /** Resolves when every create decided so far was written or has failed. */
  createsSettled(): Promise<void>
  /**
   * Resolves when every commit under way has been answered, and its callers have acted on the
   * answer.
   */
  commitsSettled(): Promise<void>
}

export interface TaskQueuesDeps {
  readonly cache: TaskCache
  readonly planner: Planner
  readonly loader: Loader
  readonly flusher: Flusher
  /** Called when an entry may have become settled. */
  readonly settled: () => void
  readonly learned: EntryLoadingDeps['learned']
  /** Present when other processes write too. */
  readonly shared?: SharedTasks | undefined
}

/** What the ledger needs when several processes write to the same tasks. */
export interface SharedTasks {
  /** The version that the store has now. */
  readonly versionOf: VersionOf
  /** The task as the run in this process has it. */
  readonly known: (taskId: string) => Task | undefined
  /** The hold epoch on which creates are decided. */
  readonly holdEpoch: () => number
  /** Reads the holds, and the position of the tenant's newest event, again. */
  readonly refresh: (tenant: string) => Promise<unknown>
}

export function createTaskQueues(deps: TaskQueuesDeps): TaskQueues {
  const { cache, planner, flusher, settled, shared } = deps
  const load = createEntryLoading({ ...deps, known: shared?.known, proceed })
  const accept = createAccept({ planner, flusher, load, enqueue })
  const check = shared && createDecisionCheck({ versionOf: shared.versionOf, load, proceed })

  function enqueue(entry: TaskEntry): void {
    if (entry.phase !== 'queued') move(entry, 'queued')
    flusher.add(entry)
  }

  function decide(entry: TaskEntry): Plan | undefined {
    const plan = entry.plan ?? planner.begin(entry)
    if (entry.plan === undefined) for (const one of nextOf(entry)) planner.add(plan, one)
    if (plan.records.length > 0) {
      entry.plan = plan
      move(entry, 'writing')
      return plan
    }
    entry.plan = undefined
    if (check !== undefined) {
      check(entry, plan)
      return undefined
    }
    answerAll(plan)
    proceed(entry)
    return undefined
  }

  function proceed(entry: TaskEntry): void {
    if (entry.stale) {
      reread(entry)
      return
    }
    const isBehind = entry.heardVersion > (entry.task?.version ?? 0)
    if (isBehind) load(entry)
    else if (entry.queue.length > 0) enqueue(entry)
    else move(entry, entry.task === undefined ? 'unknown' : 'idle')
    settled()
  }

  function catchUp(entry: TaskEntry): void {
    // The store may have lost writes since it was asked, and the version in its answer with them.
    if (entry.stale) entry.storedVersion = 0
    if (shared === undefined || entry.task === undefined || entry.stale) reread(entry)
    else load(entry)
  }

  function heard(entry: TaskEntry, version: number): void {
    if (version <= (entry.task?.version ?? 0)) return
    entry.heardVersion = Math.max(entry.heardVersion, version)
    if (entry.phase === 'idle' || entry.phase === 'unknown') load(entry)
  }

  function reread(entry: TaskEntry): void {
    forget(entry)
    if (entry.queue.length > 0) load(entry)
    else move(entry, 'unknown')
    settled()
  }

  return {
    accept,
    decide,
    proceed,
    reread,
    catchUp,
    heard,
    reach: (entry, version) => reach(entry, version, heard),
    async loaded(entry) {
      if (entry.phase === 'unknown') load(entry)
      await entry.loading
    },
    createsSettled: () => whenSettled([...cache.entries()].filter(isNotYetDurable)),
    commitsSettled: () => whenAnswered([...cache.entries()].filter(({ plan }) => plan)),
  }
}

async function reach(entry: TaskEntry, version: number, heard: TaskQueues['heard']): Promise<void> {
  let isRead = false
  while ((entry.task?.version ?? 0) < version && entry.phase !== 'unreadable') {
    if (isSettled(entry)) {
      // The store no longer has the version, or the whole task.
      if (isRead) return
      heard(entry, version)
      isRead = true
    }
    await (entry.loading ?? whenSettled([entry]))
  }
}

async function whenSettled(entries: readonly TaskEntry[]): Promise<void> {
  await Promise.all(
    entries.map(
      ({ plan }) =>
        new Promise<void>((done) => {
          // Without a plan, the entry waits for the next flush.
          if (plan === undefined) setImmediate(done)
          else plan.whenSettled.push(done)
        }),
    ),
  )
}

/** Also gives the callers one event-loop turn to act on their answers. */
async function whenAnswered(entries: readonly TaskEntry[]): Promise<void> {
  await whenSettled(entries)
  await new Promise(setImmediate)
}

/**
 * The most commands of one task in one commit. Deciding more at once would block the event loop.
 */
const MOST_COMMANDS = 256

/** The commands of the next commit: the queued ones, or one that must not share its commit. */
function nextOf(entry: TaskEntry): readonly Waiting[] {
  const { queue } = entry
  const alone = queue.findIndex((one) => one.alone)
  const sharing = alone === -1 ? queue.length : Math.max(1, alone)
  return queue.splice(0, Math.min(sharing, MOST_COMMANDS))
}

/** Accepts a command. What happens to it depends on the phase of the task's entry in memory. */
interface AcceptDeps {
  readonly planner: Planner
  readonly flusher: Pick<Flusher, 'add'>
  /** Reads the store for the entry. */
  readonly load: (entry: TaskEntry) => void
  /** Puts the entry into the next flush, which decides its queued commands. */
  readonly enqueue: (entry: TaskEntry) => void
}

/**
 * @param begun called with the new task when the command is a create that is decided before its
 * commit is durable
 */
type Accept = (entry: TaskEntry, one: Waiting, begun: ((task: Task) => void) | undefined) => void

const wait: Accept = ({ queue }, one) => {
  queue.push(one)
}

function createAccept({ planner, flusher, load, enqueue }: AcceptDeps): Accept {
  const byPhase: { readonly [P in Phase]: Accept } = {
    unknown(entry, one, begun) {
      if (begun !== undefined) {
        open(entry, one, begun)
        return
      }
      entry.queue.push(one)
      if (one.creates) enqueue(entry)
      else load(entry)
    },
    loading: wait,
    unreadable: (entry, one) => one.reject(unreadableError(entry)),
    idle(entry, one) {
      entry.queue.push(one)
      enqueue(entry)
    },
    open(entry, one) {
      if (entry.plan === undefined || one.alone || entry.queue.length > 0) entry.queue.push(one)
      else planner.add(entry.plan, one)
    },
    queued: wait,
    writing: wait,
    checking: wait,
  }

  /**
   * Decides a create at once, before its commit is durable. Commands that follow in the same turn
   * of the event loop join that commit.
   */
  function open(entry: TaskEntry, one: Waiting, begun: (task: Task) => void): void {
    const plan = planner.begin(entry)
    move(entry, 'open')
    entry.plan = plan
    planner.add(plan, one)
    flusher.add(entry)
    if (plan.task !== undefined && plan.records.length > 0) begun(plan.task)
  }

  return (entry, one, begun) => byPhase[entry.phase](entry, one, begun)
}

/**
 * In a shared store, a decision that writes nothing has no compare-and-set that would show that it
 * is out of date. This check asks the store for the version before the callers are answered (C6 of
 * `cluster/membership.ts`).
 */
interface DecisionCheckDeps {
  /** The version that the store has now. */
  readonly versionOf: (taskId: string) => Promise<number>
  /** Reads the store for the entry. */
  readonly load: (entry: TaskEntry) => void
  /** Called when the entry has finished its check. */
  readonly proceed: (entry: TaskEntry) => void
}

/** If the store has a later version, reads it and decides again. */
type DecisionCheck = (entry: TaskEntry, plan: Plan) => void

function createDecisionCheck({ versionOf, load, proceed }: DecisionCheckDeps): DecisionCheck {
  function compare(entry: TaskEntry, plan: Plan, stored: number): void {
    const decidedOn = entry.task?.version ?? 0
    if (stored === decidedOn && !entry.stale) {
      answerAll(plan)
      proceed(entry)
      return
    }
    // The store may have lost writes since it was asked, and the version in its answer with them.
    entry.storedVersion = entry.stale ? 0 : stored
    entry.queue.unshift(...plan.waiting)
    if (entry.stale || stored < decidedOn) forget(entry)
    load(entry)
  }

  return (entry, plan) => {
    move(entry, 'checking')
    versionOf(entry.id).then(
      (stored) => compare(entry, plan, stored),
      (error: unknown) => {
        rejectAll(plan.waiting, error)
        proceed(entry)
      },
    )
  }
}
