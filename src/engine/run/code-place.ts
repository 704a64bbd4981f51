/**
 * Where the code of a run stands: the record of the result that it was given last. Each scope has its own place, because
 * branches run concurrently. `unclaimed.ts` decides by it whether a rebuilt run may start an operation.
 */
import type { Journal } from './journal.ts'
import type { NewOperations } from './new-operations.ts'
import type { OperationScope } from './operation-scope.ts'

/** Where the code stood when it asked for an operation. */
export interface Asked {
  /** The record of the result it had just been given (`unclaimed.ts`). */
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
  /** Undefined: the author lets new operations run. */
  readonly #newOperations: NewOperations | undefined
  /** Set while the code reacts to a result: in which scope, and where it stands. */
  #reaction: { readonly prefix: string; readonly place: number } | undefined
  /** The newest result in its place that the code of a scope was given. */
  #places: Map<string, number> | undefined
  /** New operations that are recorded in front of others. */
  #inserted: Set<string> | undefined
  #newestResult = 0

  constructor(journal: Journal, newOperations: NewOperations | undefined) {
    this.#journal = journal
    this.#newOperations = newOperations
  }

  /** Where the code of that scope stands now. */
  asked({ prefix, place = 0, mayHaveRun }: OperationScope): Asked {
    const { diedAt } = this.#journal
    const isReaction = this.#reaction?.prefix === prefix
    return {
      place: isReaction
        ? (this.#reaction?.place ?? 0)
        : Math.max(place, this.#places?.get(prefix) ?? 0),
      mayHaveBegun: mayHaveRun ?? (diedAt > 0 && this.#newestResult <= diedAt),
    }
  }

  /** Resolves when an operation that is not recorded may run. Undefined: it may run at once. */
  admit(
    { key, harmless, added }: Wanted,
    { place }: Asked,
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

  /** The code asks for the operation of that key. */
  claim(key: string): void {
    this.#journal.unclaimed.ask(key)
    this.#newOperations?.moved()
  }

  /** The code of that scope is given a result. */
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
