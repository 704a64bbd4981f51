/** Takes commands in, task by task: where each goes depends on the phase of its task's entry. */
import type { Task } from '../../core/task.ts'
import { answerAll, rejectAll } from './answers.ts'
import { createEntryLoading, type EntryLoadingDeps } from './entry-loading.ts'
import type { Flusher } from './flusher.ts'
import type { Loader } from './loader.ts'
import type { Plan, Planner, Waiting } from './plan.ts'
import type { TaskCache } from './task-cache.ts'
import {
  forget,
  isNotYetDurable,
  move,
  type Phase,
  type TaskEntry,
  unreadableError,
} from './task-entry.ts'

export interface TaskQueues {
  /** @param begun told of the task when the command is a create and could be decided ahead of its commit */
  accept(entry: TaskEntry, one: Waiting, begun?: (task: Task) => void): void
  /** Decides what waits. Undefined: there is nothing to write, and the callers are answered. */
  decide(entry: TaskEntry): Plan | undefined
  /** The entry has finished what it was doing: it is settled, or what waits is next. */
  proceed(entry: TaskEntry): void
  /** What is in memory is out of date: it is read before the next decision. */
  reread(entry: TaskEntry): void
  /** The same where other processes wrote, and what is in memory was right before. */
  catchUp(entry: TaskEntry): void
  /** Another process is said to have written this version. */
  heard(entry: TaskEntry, version: number): void
  /** Resolves when the store was read for the entry. @throws LullError `STORE_UNAVAILABLE` */
  loaded(entry: TaskEntry): Promise<void>
  /** Resolves when every create decided so far is settled. */
  createsSettled(): Promise<void>
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

/** What the ledger needs where several processes write to the same tasks. */
export interface SharedTasks {
  /** The version that the store has now. */
  readonly versionOf: (taskId: string) => Promise<number>
  /** The task as a run here has it. */
  readonly known: (taskId: string) => Task | undefined
  /** The epoch of the holds that creations are decided on. */
  readonly holdEpoch: () => number
  readonly refreshHolds: () => Promise<void>
}

type Accept = (entry: TaskEntry, one: Waiting, begun: ((task: Task) => void) | undefined) => void

const wait: Accept = ({ queue }, one) => {
  queue.push(one)
}

export function createTaskQueues(deps: TaskQueuesDeps): TaskQueues {
  const { cache, planner, flusher, settled, shared } = deps
  const load = createEntryLoading({ ...deps, known: shared?.known, proceed })
  const accept: { readonly [P in Phase]: Accept } = {
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

  function open(entry: TaskEntry, one: Waiting, begun: (task: Task) => void): void {
    const plan = planner.begin(entry)
    move(entry, 'open')
    entry.plan = plan
    planner.add(plan, one)
    flusher.add(entry)
    if (plan.task !== undefined && plan.records.length > 0) begun(plan.task)
  }

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
    if (shared === undefined) {
      answerAll(plan)
      proceed(entry)
    } else check(entry, plan, shared)
    return undefined
  }

  /** Nothing is to be written, so no compare-and-set tells whether the decision is out of date (C6). */
  function check(entry: TaskEntry, plan: Plan, { versionOf }: SharedTasks): void {
    move(entry, 'checking')
    versionOf(entry.id).then(
      (version) => {
        if (version === (entry.task?.version ?? 0)) {
          answerAll(plan)
          proceed(entry)
          return
        }
        entry.storedVersion = version
        entry.queue.unshift(...plan.waiting)
        if (version < (entry.task?.version ?? 0)) forget(entry)
        load(entry)
      },
      (error: unknown) => {
        rejectAll(plan.waiting, error)
        proceed(entry)
      },
    )
  }

  function proceed(entry: TaskEntry): void {
    const isBehind = entry.heardVersion > (entry.task?.version ?? 0)
    if (isBehind) load(entry)
    else if (entry.queue.length > 0) enqueue(entry)
    else move(entry, entry.task === undefined ? 'unknown' : 'idle')
    settled()
  }

  function catchUp(entry: TaskEntry): void {
    if (shared === undefined || entry.task === undefined) reread(entry)
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
    accept: (entry, one, begun) => accept[entry.phase](entry, one, begun),
    decide,
    proceed,
    reread,
    catchUp,
    heard,
    async loaded(entry) {
      if (entry.phase === 'unknown') load(entry)
      await entry.loading
    },
    createsSettled: () => whenSettled([...cache.entries()].filter(isNotYetDurable)),
  }
}

async function whenSettled(entries: readonly TaskEntry[]): Promise<void> {
  await Promise.all(
    entries.map(({ plan }) => new Promise<void>((done) => plan?.whenSettled.push(done))),
  )
}

/** The commands of the next commit: all that wait, or one that must not share its commit. */
function nextOf(entry: TaskEntry): readonly Waiting[] {
  const { queue } = entry
  const alone = queue.findIndex((one) => one.alone)
  if (alone === -1) {
    entry.queue = []
    return queue
  }
  return queue.splice(0, Math.max(1, alone))
}
