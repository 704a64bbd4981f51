/**
 * The place of a run's code: the number of the record whose result it got last. Each scope has its own place, because
 * branches run concurrently. `unclaimed.ts` uses it to decide whether a rebuilt run may start a new operation.
 */

import type { OperationScope } from '../operation-scope.ts'
import type { Journal } from './journal.ts'
import type { NewOperations } from './new-operations.ts'

/** The place of the code when it called an operation. */
export interface CallSite {
  /** The number of the record whose result the code got last. */
  readonly place: number
  /** The operation may have been in flight when a run of the task died. */
  readonly mayHaveBegun: boolean
}

interface Wanted {
  readonly key: string
  readonly harmless?: true
  readonly added?: true
}

export class CodePlace {
  readonly #journal: Journal
  /** Undefined if the agent allows new operations (`newSteps: 'run'`). */
  readonly #newOperations: NewOperations | undefined
  /** Set while the code reacts to a result: the scope and the place. */
  #reaction: { readonly prefix: string; readonly place: number } | undefined
  /** The highest place of each scope. */
  #places: Map<string, number> | undefined
  /** New operations that the code calls before recorded ones. */
  #inserted: Set<string> | undefined
  #newestResult = 0

  constructor(journal: Journal, newOperations: NewOperations | undefined) {
    this.#journal = journal
    this.#newOperations = newOperations
  }

  /** The place of the code of that scope now. */
  callSite({ prefix, place = 0, mayHaveRun }: OperationScope): CallSite {
    const { diedAt } = this.#journal
    const isReaction = this.#reaction?.prefix === prefix
    return {
      place: isReaction
        ? (this.#reaction?.place ?? 0)
        : Math.max(place, this.#places?.get(prefix) ?? 0),
      mayHaveBegun: mayHaveRun ?? (diedAt > 0 && this.#newestResult <= diedAt),
    }
  }

  /** Resolves when an operation that is not recorded may run. Undefined if it may run at once. */
  admit(
    { key, harmless, added }: Wanted,
    { place }: CallSite,
    { inside }: OperationScope,
  ): Promise<void> | undefined {
    const { unclaimed } = this.#journal
    if (unclaimed.behind(place, key) === undefined) return undefined
    if (!(harmless || added || this.#newOperations === undefined || this.#journal.knows(key))) {
      return this.#newOperations.admit(key, place, inside?.signal)
    }
    this.#inserted ??= new Set()
    this.#inserted.add(key)
    return undefined
  }

  isInserted(key: string): boolean {
    return this.#inserted?.has(key) ?? false
  }

  /** The code calls the operation of that key. */
  claim(key: string): void {
    this.#journal.unclaimed.ask(key)
    this.#newOperations?.moved()
  }

  /** The code of that scope gets a result. */
  give({ prefix, inside }: OperationScope, seq: number, place: number): void {
    if (inside === undefined && seq > this.#newestResult) this.#newestResult = seq
    if (this.#journal.unclaimed.isEmpty) return
    this.#reaction = { prefix, place }
    this.#newOperations?.moved()
    this.#places ??= new Map()
    if (place > (this.#places.get(prefix) ?? 0)) this.#places.set(prefix, place)
  }

  /** The code has reacted to the last result. */
  reacted(): void {
    this.#reaction = undefined
  }

  /** The run is over. */
  close(): void {
    this.#newOperations?.close()
  }
}
