/** New operations of a rebuilt run that wait until they may run. The rule is in `unclaimed.ts`. */
import type { NewOperation } from '../../../core/suspension.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Unclaimed } from './unclaimed.ts'

/** The rebuilt run. */
export interface Rebuilding {
  readonly clock: Pick<Clock, 'after'>
  readonly unclaimed: Unclaimed
  /** Whether no result waits to be handed out and no pause is under way. */
  isStill(): boolean
  /** The code has changed: it calls these operations, and does not call the recorded ones after them. */
  changed(operations: readonly NewOperation[]): void
}

/**
 * How long a run must stand still before its code counts as changed. A branch may wait for something that is not
 * journaled (a timer, an import) before it calls a recorded operation.
 */
export const STILL_MS = 1_000

interface Waiting {
  readonly key: string
  readonly place: number
}

/** The signal of the step that the operation is in. */
type Outer = AbortSignal | undefined

export class NewOperations {
  readonly #run: Rebuilding
  readonly #waiting: Set<Waiting> = new Set()
  #moves = 0
  #cancel: (() => void) | undefined

  constructor(run: Rebuilding) {
    this.#run = run
  }

  /** Resolves when the operation may run. Rejects when the step that it is in is aborted, so that the step can end. */
  admit(key: string, place: number, outer: Outer): Promise<void> {
    return new Promise((resolve, reject) => {
      const one: Waiting = { key, place }
      const start = (): void => {
        if (this.#waiting.delete(one)) resolve()
      }
      this.#waiting.add(one)
      outer?.addEventListener('abort', () => {
        this.#waiting.delete(one)
        reject(outer.reason)
      })
      this.#run.unclaimed.whenNothingBehind({ key, place, start })
      this.#watch()
    })
  }

  /** The code called an operation or got a result. */
  moved(): void {
    this.#moves++
  }

  /** The run is over. */
  close(): void {
    this.#waiting.clear()
    this.#cancel?.()
  }

  #watch(): void {
    if (this.#cancel !== undefined) return
    const before = this.#moves
    this.#cancel = this.#run.clock.after(STILL_MS, () => {
      this.#cancel = undefined
      this.#look(before)
    })
  }

  #look(before: number): void {
    if (this.#waiting.size === 0) return
    if (this.#moves !== before || !this.#run.isStill()) {
      this.#watch()
      return
    }
    this.#run.changed(
      [...this.#waiting].map(({ key, place }) => ({
        key,
        unclaimed: this.#run.unclaimed.behind(place, key) ?? '',
      })),
    )
  }
}
