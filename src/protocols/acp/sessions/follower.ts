/** The progress of an attachment in following one task, and the callers that wait for the task. */
import { noTextShown, type TextPosition } from '../../../core/messages/live-text.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'

/** A caller that waits until the task is idle. */
export interface IdleWaiter {
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

export interface Follower {
  /** The task after the last record that was sent. */
  readonly task: Task | undefined
  readonly waiting: ReadonlySet<IdleWaiter>
  /** The live text that the client has and that is not recorded yet. */
  held: readonly TextPosition[]
  /** True while the task runs because of a prompt of this connection. */
  begunHere: boolean
  moved(task: Task, record: LogRecord): void
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

export function createFollower(from: Task | undefined): Follower {
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
    moved(now, record) {
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
