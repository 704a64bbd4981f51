/**
 * Decides whether a rebuilt run may execute an operation that is not in the journal.
 *
 * Newly deployed code may have a new step, or a new name for a recorded step. Lull cannot tell which. A renamed step
 * must not run again, because its side effect has happened. The rule:
 *
 *   A new operation runs after the code has called every operation that is recorded after the code's place.
 *   Until then it waits for the other branches. If the run stands still, the code has changed, and an operator decides.
 *
 * The place of the code is the record of the last result that it got. In sequential code that is the last operation it
 * called. Parallel branches have a place each. Removed and reordered operations do not matter, as long as the code calls
 * an operation that is recorded after them.
 *
 * An operator who resumes the task accepts every waiting operation as new, and the recorded one it waits for as removed.
 *
 * U1  Unchanged code is never stopped: it calls all recorded operations before it calls a new one.
 * U2  An operation inside a step is compared with the operations of the same attempt of that step, and with those outside
 *     of it. An operation outside of a step is not compared with the inside of a step that the code has called.
 */
import { oldSpelling, outerSteps } from './keys.ts'

export class Unclaimed {
  /** Recorded operations that the code has not called, by key, with the numbers of their records. */
  readonly #left: Map<string, number>
  readonly #asked: Set<string> = new Set()

  /** @param recorded operations by key, with the numbers of their records */
  constructor(recorded: Map<string, number>) {
    this.#left = recorded
  }

  /** Whether the code has called every recorded operation. Any operation may run then. */
  get isEmpty(): boolean {
    return this.#left.size === 0
  }

  /** The recorded operations that the code has not called. */
  get keys(): readonly string[] {
    return [...this.#left.keys()]
  }

  has(key: string): boolean {
    return this.#left.has(key)
  }

  /** The code calls an operation. */
  ask(key: string): void {
    if (this.#left.size === 0) return
    for (const spelling of [key, oldSpelling(key)]) {
      if (spelling === undefined) continue
      this.#left.delete(spelling)
      this.#asked.add(spelling)
    }
  }

  /** The first operation after the place that the code has not called. Undefined if the new operation may run. */
  behind(place: number, key: string): string | undefined {
    let first: { readonly key: string; readonly seq: number } | undefined
    for (const [other, seq] of this.#left) {
      if (seq <= place || (first !== undefined && seq > first.seq)) continue
      if (this.#concerns(other, key)) first = { key: other, seq }
    }
    return first?.key
  }

  /** Whether an operation inside that step is recorded, so that the step had begun. */
  hasInside(step: string): boolean {
    const spellings = [step, oldSpelling(step) ?? step]
    for (const key of this.#left.keys()) {
      if (spellings.some((one) => key.startsWith(`${one}/`) || key.startsWith(`${one}!`)))
        return true
    }
    return false
  }

  #concerns(recorded: string, key: string): boolean {
    return outerSteps(recorded).every(
      (step) => !this.#asked.has(step.key) || key.startsWith(step.prefix),
    )
  }
}

/** For a run that is not rebuilt. */
export const nothingUnclaimed: Unclaimed = new Unclaimed(new Map())
