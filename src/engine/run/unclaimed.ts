/**
 * Whether an operation that the journal does not know may run while a run is rebuilt.
 *
 * Code that was deployed in between may have got a new step, or a new name for one that is recorded. Nobody can tell which,
 * and the second must not run: its side effect has happened. The rule:
 *
 *   A new operation runs when the code has asked for every operation that is recorded behind the place where it stands.
 *   Until then it waits for the other branches. When the run stands still, the code has changed: an operator decides.
 *
 * The place is the record of the result that the code has just been given. In sequential code that is the newest operation
 * it has asked for; in parallel branches each has its own. Removed and reordered operations are nobody's concern as long as
 * an operation recorded behind them is asked for.
 *
 * An operator who resumes accepts all operations that wait, and that the one each of them waits for is not asked for.
 *
 * U1  Code that has not changed is never stopped: it asks for everything that is recorded before it needs anything new.
 * U2  An operation inside a step is compared with what lies inside the same attempt of that step, and outside of it;
 *     operations outside are not compared with what lies inside a step that was asked for: that step asks for them itself.
 */
import { oldSpelling, outerSteps } from './keys.ts'

export class Unclaimed {
  /** Recorded operations that the code has not asked for, by key, with their records. */
  readonly #left: Map<string, number>
  readonly #asked: Set<string> = new Set()

  /** @param recorded by key, with their records */
  constructor(recorded: Map<string, number>) {
    this.#left = recorded
  }

  /** The code has asked for everything: whatever it asks for now may run. */
  get isEmpty(): boolean {
    return this.#left.size === 0
  }

  /** The code asks for an operation. */
  ask(key: string): void {
    if (this.#left.size === 0) return
    for (const spelling of [key, oldSpelling(key)]) {
      if (spelling === undefined) continue
      this.#left.delete(spelling)
      this.#asked.add(spelling)
    }
  }

  /** The first operation recorded behind the place that is not asked for; undefined: the new one may run. */
  behind(place: number, key: string): string | undefined {
    let first: { readonly key: string; readonly seq: number } | undefined
    for (const [other, seq] of this.#left) {
      if (seq <= place || (first !== undefined && seq > first.seq)) continue
      if (this.#concerns(other, key)) first = { key: other, seq }
    }
    return first?.key
  }

  /** Something is recorded inside that step: it had begun. */
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

/** Of a run that is not rebuilt. */
export const nothingUnclaimed: Unclaimed = new Unclaimed(new Map())
