/** How far an attachment has followed one task, and who waits until it needs somebody or has ended. */
import { noTextShown, type TextPosition } from '../../../core/live-text.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'

export interface Waiter {
  /** Not before a record that fits; undefined once it has come. */
  from: ((record: LogRecord) => boolean) | undefined
  readonly resolve: (task: Task | undefined) => void
}

export interface Follower {
  /** As it stood after the last record that was sent. */
  readonly task: Task | undefined
  readonly waiting: ReadonlySet<Waiter>
  /** What was sent of text that is not recorded. */
  held: readonly TextPosition[]
  /** A prompt of this connection began it, and it has not rested since. */
  begunHere: boolean
  moved(task: Task, record: LogRecord): void
  /** It rests: those who wait are told. */
  rested(): void
  /** The connection has gone. */
  lost(): void
  /** The task has. */
  end(): void
  expect(from: Waiter['from']): { readonly settled: Promise<Task | undefined>; forget(): void }
  reached(version: number): Promise<void>
}

export function follower(from: Task | undefined): Follower {
  const waiting = new Set<Waiter>()
  const places = new Set<{ readonly version: number; readonly resolve: () => void }>()
  let task = from

  function arrive(upTo: number): void {
    for (const place of places) {
      if (place.version > upTo) continue
      places.delete(place)
      place.resolve()
    }
  }

  function resolve(waiter: Waiter, with_: Task | undefined): void {
    waiting.delete(waiter)
    waiter.resolve(with_)
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
      arrive(now.version)
    },
    rested() {
      this.begunHere = false
      // After its last record nothing comes any more, whatever was expected.
      const over = task !== undefined && isTerminal(task.state)
      for (const waiter of waiting) if (over || waiter.from === undefined) resolve(waiter, task)
    },
    lost() {
      for (const waiter of waiting) resolve(waiter, undefined)
      arrive(Number.POSITIVE_INFINITY)
    },
    end: () => arrive(Number.POSITIVE_INFINITY),
    expect(from) {
      let resolve: Waiter['resolve'] = () => undefined
      const settled = new Promise<Task | undefined>((done) => {
        resolve = done
      })
      const waiter: Waiter = { from, resolve }
      waiting.add(waiter)
      return { settled, forget: () => waiting.delete(waiter) }
    },
    reached: (version) =>
      (task?.version ?? 0) >= version
        ? Promise.resolve()
        : new Promise((resolve) => {
            places.add({ version, resolve })
          }),
  }
}
