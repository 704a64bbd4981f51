/**
 * Tracks the tasks of a session that one attachment follows. A task without an entry has not been
 * seen.
 *
 *   follow ──▶ followed ──every record sent──▶ ended
 *     ▲            │
 *     └── lost ◀───┘ reading failed twice
 */

import { noTextShown, type TextPosition } from '../../../core/messages/live-text.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isInterrupted, isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Questions } from '../prompts/questions.ts'
import { isIdle } from '../render/updates.ts'

type Entry =
  | { readonly phase: 'followed'; readonly follower: Follower }
  | { readonly phase: 'ended' }
  /** The next `follow` continues after this version of the task. */
  | { readonly phase: 'lost'; readonly task: Task | undefined }

export interface TaskFollowers {
  get(taskId: string): Follower | undefined
  /**
   * Returns the follower of the task. If there is none, starts to follow it: after `from`, or from
   * the first record.
   */
  follow(taskId: string, from?: Task): Follower
  isEnded(taskId: string): boolean
  /** Whether the task is followed, or was followed to its end. */
  isSeen(taskId: string): boolean
  /** Called when every record of the task was already sent by a replay. */
  markEnded(taskId: string): void
  seenIds(): readonly string[]
  all(): readonly Follower[]
}

export interface TaskFollowerDeps extends Pick<EngineDeps, 'log'> {
  /** Sends the records of the task until its end or until `detached` aborts. */
  readonly read: (taskId: string, follower: Follower) => Promise<void>
  readonly detached: AbortSignal
}

export function createTaskFollowers({ read, detached, log }: TaskFollowerDeps): TaskFollowers {
  const entries = new Map<string, Entry>()

  function get(taskId: string): Follower | undefined {
    const entry = entries.get(taskId)
    return entry?.phase === 'followed' ? entry.follower : undefined
  }

  async function readToEnd(taskId: string, follower: Follower): Promise<void> {
    try {
      await read(taskId, follower).catch((error: unknown) => {
        if (detached.aborted) throw error
        log('warn', 'a task of a session could not be read and is read again', { taskId, error })
        return read(taskId, follower)
      })
    } catch (error) {
      if (detached.aborted) return
      log('warn', 'a task of a session is not followed further', { taskId, error })
      entries.set(taskId, { phase: 'lost', task: follower.task })
      follower.lost()
      return
    }
    if (detached.aborted) return
    entries.set(taskId, { phase: 'ended' })
    follower.end()
  }

  function isSeen(taskId: string): boolean {
    const phase = entries.get(taskId)?.phase
    return phase === 'followed' || phase === 'ended'
  }

  return {
    get,
    follow(taskId, from) {
      const entry = entries.get(taskId)
      if (entry?.phase === 'followed') return entry.follower
      const follower = createFollower(from ?? (entry?.phase === 'lost' ? entry.task : undefined))
      entries.set(taskId, { phase: 'followed', follower })
      void readToEnd(taskId, follower)
      return follower
    },
    isEnded: (taskId) => entries.get(taskId)?.phase === 'ended',
    isSeen,
    markEnded: (taskId) => entries.set(taskId, { phase: 'ended' }),
    seenIds: () => [...entries.keys()].filter(isSeen),
    all: () =>
      [...entries.values()].flatMap((entry) => (entry.phase === 'followed' ? entry.follower : [])),
  }
}

/** A caller that waits until the task is idle. */
interface IdleWaiter {
  /**
   * Idle states before a record for which this returns true are ignored. Undefined once that record
   * has arrived.
   */
  from: ((record: LogRecord) => boolean) | undefined
  readonly resolve: (task: Task | undefined) => void
}

export interface Expected {
  /** Resolves with the task when it is idle. Undefined: the connection was lost first. */
  readonly settled: Promise<Task | undefined>
  /** Removes the waiter. `settled` never resolves after this call. */
  forget(): void
}

/** The progress of an attachment in following one task, and the callers that wait for the task. */
export interface Follower {
  /** The task after the last record that was sent. */
  readonly task: Task | undefined
  readonly waiting: ReadonlySet<IdleWaiter>
  /** The live text that the client has and that is not recorded yet. */
  held: readonly TextPosition[]
  /** True while the task runs because of a prompt of this connection. */
  begunHere: boolean
  advance(task: Task, record: LogRecord): void
  /** Resolves the waiters, because the task is idle. */
  becameIdle(): void
  /** Called when the connection is lost, or the task can no longer be followed. */
  lost(): void
  /** Called when every record of the task was sent. */
  end(): void
  expect(from: IdleWaiter['from']): Expected
  /** Resolves when the records up to this version were sent, or will never be. */
  reached(version: number): Promise<void>
}

function createFollower(from: Task | undefined): Follower {
  const waiting = new Set<IdleWaiter>()
  const versionWaiters = new Set<{ readonly version: number; readonly resolve: () => void }>()
  let task = from

  function resolveVersions(upTo: number): void {
    for (const waiter of versionWaiters) {
      if (waiter.version > upTo) continue
      versionWaiters.delete(waiter)
      waiter.resolve()
    }
  }

  function resolve(waiter: IdleWaiter, found: Task | undefined): void {
    waiting.delete(waiter)
    waiter.resolve(found)
  }

  return {
    get task() {
      return task
    },
    waiting,
    held: noTextShown,
    begunHere: false,
    advance(now, record) {
      task = now
      for (const waiter of waiting) if (waiter.from?.(record)) waiter.from = undefined
      resolveVersions(now.version)
    },
    becameIdle() {
      this.begunHere = false
      // A task that has ended writes no more records, so a record that is still expected will never
      // come.
      const ended = task !== undefined && isTerminal(task.state)
      for (const waiter of waiting) if (ended || waiter.from === undefined) resolve(waiter, task)
    },
    lost() {
      for (const waiter of waiting) resolve(waiter, undefined)
      resolveVersions(Number.POSITIVE_INFINITY)
    },
    end: () => resolveVersions(Number.POSITIVE_INFINITY),
    expect(from) {
      let resolve: IdleWaiter['resolve'] = () => undefined
      const settled = new Promise<Task | undefined>((done) => {
        resolve = done
      })
      const waiter: IdleWaiter = { from, resolve }
      waiting.add(waiter)
      return { settled, forget: () => waiting.delete(waiter) }
    },
    reached: (version) =>
      (task?.version ?? 0) >= version
        ? Promise.resolve()
        : new Promise((resolve) => {
            versionWaiters.add({ version, resolve })
          }),
  }
}

/** Decides when a task of a session is idle for this connection, and notifies the waiters. */
interface IdleTasks {
  /**
   * Whether the task is idle. It is not while the client is being asked the task's question,
   * because the answer belongs to the same prompt.
   */
  has(task: Task): boolean
  /** Called after a record was sent: notifies the follower if the task is idle. */
  update(task: Task): void
  /** Called when the client dismissed the question of the task. */
  dismissed(taskId: string): void
}

export function createIdleTasks(
  followers: Pick<TaskFollowers, 'get'>,
  questions: Questions,
): IdleTasks {
  /**
   * Ends the prompts of the task and of its parents, because the user has to write the next prompt.
   * `visited` is needed because imported tasks can name each other as parents.
   */
  function yieldToUser(task: Task, visited: Set<string> = new Set()): void {
    followers.get(task.id)?.becameIdle()
    visited.add(task.id)
    const parent = task.parentId === undefined ? undefined : followers.get(task.parentId)?.task
    if (parent !== undefined && !visited.has(parent.id)) yieldToUser(parent, visited)
  }

  function has(task: Task): boolean {
    const isInterruptedChild = task.parentId !== undefined && isInterrupted(task.state)
    const isBeingAsked = isInterrupted(task.state) && questions.asking(task.id)
    return isIdle(task) && !isInterruptedChild && !isBeingAsked
  }

  return {
    has,
    update(task) {
      if (has(task)) followers.get(task.id)?.becameIdle()
      else if (isInterrupted(task.state) && !questions.asking(task.id)) yieldToUser(task)
    },
    dismissed(taskId) {
      const task = followers.get(taskId)?.task
      if (task !== undefined && isInterrupted(task.state)) yieldToUser(task)
    },
  }
}
