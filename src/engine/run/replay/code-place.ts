/**
 * Whether a run may start an operation that is not recorded: the rule of `unclaimed.ts`, by the place of the run's code.
 * The place is the number of the record whose result the code got last. Each scope has its own place, because branches run
 * concurrently. New operations of a rebuilt run wait here until they may start.
 */
import type { Operation, OperationScope } from '../operation.ts'
import type { RunCore } from '../run-core.ts'

/** The place of the code when it called an operation. */
export interface CallSite {
  /** The number of the record whose result the code got last. */
  readonly place: number
  /** The operation may have been in flight when a run of the task died. */
  readonly mayHaveBegun: boolean
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

/** A class: one instance per run is cheaper than one closure per method and run. Its collections are created when needed. */
export class CodePlace {
  readonly #core: RunCore
  /** The agent allows new operations at any place (`newSteps: 'run'`). */
  readonly #allowsNew: boolean
  /** Set while the code reacts to a result: the scope and the place. */
  #reaction: { readonly prefix: string; readonly place: number } | undefined
  /** The highest place of each scope. */
  #places: Map<string, number> | undefined
  /** New operations that the code calls before recorded ones. */
  #inserted: Set<string> | undefined
  #newestResult = 0
  /** New operations that may not start yet. */
  #waiting: Set<Waiting> | undefined
  /** How often the code called an operation or got a result. */
  #moves = 0
  #cancel: (() => void) | undefined

  constructor(core: RunCore, allowsNew: boolean) {
    this.#core = core
    this.#allowsNew = allowsNew
  }

  /** The place of the code of that scope now. */
  callSite({ prefix, place = 0, mayHaveRun }: OperationScope): CallSite {
    const { diedAt } = this.#core.journal
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
    { key, harmless, added }: Pick<Operation<unknown>, 'key' | 'harmless' | 'added'>,
    { place }: CallSite,
    { inside }: OperationScope,
  ): Promise<void> | undefined {
    const { journal } = this.#core
    if (journal.unclaimed.behind(place, key) === undefined) return undefined
    if (!(harmless || added || this.#allowsNew || journal.knows(key))) {
      return this.#wait({ key, place }, inside?.signal)
    }
    this.#inserted ??= new Set()
    this.#inserted.add(key)
    return undefined
  }

  isInserted(key: string): boolean {
    return this.#inserted?.has(key) ?? false
  }

  /** The code calls the operation of that key. */
  noteCall(key: string): void {
    this.#core.journal.unclaimed.noteCall(key)
    this.#moves++
  }

  /** The code of that scope gets a result. */
  noteResult({ prefix, inside }: OperationScope, seq: number, place: number): void {
    if (inside === undefined && seq > this.#newestResult) this.#newestResult = seq
    if (this.#core.journal.unclaimed.isEmpty) return
    this.#reaction = { prefix, place }
    this.#moves++
    this.#places ??= new Map()
    if (place > (this.#places.get(prefix) ?? 0)) this.#places.set(prefix, place)
  }

  /** The code has reacted to the last result. */
  endReaction(): void {
    this.#reaction = undefined
  }

  /** The run is over. */
  close(): void {
    this.#waiting?.clear()
    this.#cancel?.()
  }

  /** Rejects when the step that the operation is in is aborted, so that the step can end. */
  #wait(one: Waiting, outer: AbortSignal | undefined): Promise<void> {
    this.#waiting ??= new Set()
    const waiting = this.#waiting
    return new Promise((resolve, reject) => {
      const start = (): void => {
        if (waiting.delete(one)) resolve()
      }
      waiting.add(one)
      outer?.addEventListener('abort', () => {
        waiting.delete(one)
        reject(outer.reason)
      })
      this.#core.journal.unclaimed.whenNothingBehind({ ...one, start })
      this.#watch()
    })
  }

  #watch(): void {
    if (this.#cancel !== undefined) return
    const before = this.#moves
    this.#cancel = this.#core.host.clock.after(STILL_MS, () => {
      this.#cancel = undefined
      this.#look(before)
    })
  }

  #look(before: number): void {
    const waiting = [...(this.#waiting ?? [])]
    if (waiting.length === 0) return
    if (this.#moves !== before || !this.#core.isStill()) {
      this.#watch()
      return
    }
    const { unclaimed } = this.#core.journal
    this.#core.policy.newOperations(
      waiting.map(({ key, place }) => ({ key, unclaimed: unclaimed.behind(place, key) ?? '' })),
    )
  }
}
