/**
 * Work that follows a write and is not part of it: looking for earlier events and ended children
 * after a stop, waking the task that waits for a child, cancelling the children of a canceled task. It is retried until it succeeds. The store has the
 * instant up to which all such work is done. After a crash, the work is repeated for tasks that
 * changed after that instant.
 *
 * Other work that follows a write (`during`) is not retried here: a hold, a lift, a change of a
 * budget. Its caller gets the error. If it stops half-way, it is completed when a process starts,
 * or by another process after this one has ended.
 */
import { isLullError } from '../../core/errors.ts'
import { isPaused, isTerminal, type State, terminalStates } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { TaskQuery, TaskRow, TaskStore } from '../../ports/store/tasks.ts'
import { createPendingWork } from '../executor/pending-work.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { TaskPlaces } from '../ledger/task-places.ts'
import { least } from '../limits/least.ts'

export interface FollowUps {
  /**
   * Runs the work, and resolves after the first attempt. A failed attempt is retried in the
   * background.
   */
  add(task: Task, work: (task: Task) => Promise<void>): Promise<void>
  /**
   * Runs work of another kind, which is not retried here. If this process ends before it is done,
   * or the store could not be reached, another process completes it.
   */
  during<T>(work: () => Promise<T>): Promise<T>
  /** Whether this process leaves no work to others if it ends now. */
  readonly isDone: () => boolean
  /** Repeats the work of every task for which it may not have been done before a crash. */
  start(work: FollowUpWork): Promise<void>
  /** The instant up to which this process has done all its follow-up work. */
  readonly doneUntil: () => number
  /**
   * Repeats the work for every task that changed since that instant, for a process that is gone.
   */
  repeat(since: number, work: FollowUpWork): Promise<void>
  stop(): Promise<void>
}

type Work = (task: Task) => Promise<void>

export interface FollowUpWork {
  readonly stopped: Work
  /** Of a task with a parent. */
  readonly ended: Work
  readonly canceled: Work
}

/** The name of the stored value in an embedded store. */
export const DONE_UNTIL = 'follow-ups.done'
const SAVE_MS = 10_000
const RETRY_MS = 1_000
/** Longer than any record takes from its instant until it is published. */
const MARGIN_MS = 60_000
const PAGE = 256
const followed: readonly State[] = ['paused-by-client', 'paused-by-agent', ...terminalStates]

export interface FollowUpDeps {
  readonly store: TaskStore & KeyValueStore
  readonly places: Pick<TaskPlaces, 'learn'>
  readonly ledger: Pick<Ledger, 'read'>
  readonly clock: Clock
  readonly log: Log
  /**
   * In a shared store, the instant is sent with each heartbeat instead of being stored as a value.
   */
  readonly isShared: boolean
}

export function createFollowUps(deps: FollowUpDeps): FollowUps {
  const { store, clock, log, isShared } = deps
  const undone = createUndone(clock)
  const pending = createPendingWork()
  let saved = 0
  let cancelSave: (() => void) | undefined

  function add(task: Task, work: Work): Promise<void> {
    const item = {}
    undone.since.set(item, task.statusAt)
    cancelSave ??= clock.after(SAVE_MS, async () => {
      cancelSave = undefined
      await trySave()
    })
    return attempt(item, task, work)
  }

  function attempt(item: object, task: Task, work: Work): Promise<void> {
    const tried = work(task).then(
      () => {
        undone.since.delete(item)
      },
      (error: unknown) => {
        log('error', 'work that follows a write failed; trying again', { taskId: task.id, error })
        clock.after(RETRY_MS, () => {
          attempt(item, task, work).catch(() => undefined)
        })
      },
    )
    return pending.track(tried)
  }

  const doneUntil = (): number => Math.min(clock.now(), least(undone.since.values())) - MARGIN_MS

  async function save(): Promise<void> {
    const until = doneUntil()
    if (isShared || until <= saved) return
    await store.setValue(DONE_UNTIL, until)
    saved = until
  }

  /** An old value is harmless: more work is repeated after a crash. */
  async function trySave(): Promise<void> {
    await save().catch((error: unknown) => log('warn', 'a fact could not be saved', { error }))
  }

  async function repeat(since: number, work: FollowUpWork): Promise<void> {
    for await (const task of changedSince(deps, since)) {
      // The task may have continued since it was listed. Then there is nothing left to do for it.
      if (isPaused(task.state)) await add(task, work.stopped)
      if (isTerminal(task.state) && task.parentId !== undefined) await add(task, work.ended)
      if (task.state === 'canceled') await add(task, work.canceled)
    }
  }

  async function start(work: FollowUpWork): Promise<void> {
    if (isShared) return
    const until = await store.getValue(DONE_UNTIL)
    // If there is no value, no process has ever run on this store.
    saved = typeof until === 'number' ? until : 0
    if (typeof until === 'number') await repeat(until, work)
    await save()
  }

  return {
    add,
    during: undone.during,
    isDone: () => undone.since.size === 0 && !undone.isLeft(),
    start,
    doneUntil,
    repeat,
    async stop() {
      cancelSave?.()
      cancelSave = undefined
      await pending.settled()
      await trySave()
    },
  }
}

/** Tracks unfinished work with the instant of the write that it follows. */
function createUndone(clock: Pick<Clock, 'now'>): Pick<FollowUps, 'during'> & {
  readonly since: Map<object, number>
  /** Whether some work stopped half-way and is not retried here. */
  readonly isLeft: () => boolean
} {
  const since = new Map<object, number>()
  let isLeft = false
  return {
    since,
    isLeft: () => isLeft,
    async during(work) {
      const item = {}
      since.set(item, clock.now())
      try {
        return await work()
      } catch (error) {
        if (isLullError(error, 'STORE_UNAVAILABLE')) isLeft = true
        throw error
      } finally {
        since.delete(item)
      }
    },
  }
}

/** Most tasks that have ended leave no work. They are not read. */
function mayHaveWork({ state, parentId }: TaskRow): boolean {
  return !isTerminal(state) || state === 'canceled' || parentId !== undefined
}

async function* changedSince(
  { store, places, ledger }: FollowUpDeps,
  statusAtFrom: number,
): AsyncGenerator<Task> {
  const query: TaskQuery = { states: followed, statusAtFrom, limit: PAGE }
  let before: TaskQuery['before']
  for (;;) {
    const page = await store.list(before === undefined ? query : { ...query, before })
    for (const row of page) {
      if (!mayHaveWork(row)) continue
      places.learn(row.id, row.tenant)
      const task = await ledger.read(row.id)
      if (task !== undefined) yield task
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    before = { statusAt: last.statusAt, id: last.id }
  }
}
