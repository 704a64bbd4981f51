import type { CallSite } from './replay/code-place.ts'
import type { Entry } from './replay/journal.ts'

/** One journaled `task.*` call. */
export interface Operation<T> {
  readonly key: string
  /** Compared with the recorded fingerprint. If they differ, the code has changed. */
  readonly fingerprint?: string
  /** Returns the recorded result or throws the recorded failure. Undefined if the entry is of another kind. */
  readonly replay: (entry: Entry) => { readonly value: T } | undefined
  readonly live: (site: CallSite) => Promise<Handed<T>>
  /** The operation has no effect outside of the task, so it may be new at any place of the code. */
  readonly harmless?: true
  /** It only waits, for the end of a stop or of a child. It has no effect that a run waits for when its code has ended. */
  readonly waits?: true
  /** The agent declares the operation as new (`added`). */
  readonly added?: true
}

/** An operation whose record is durable. */
export interface Finished<T> {
  readonly seq: number
  readonly settle: () => T
}

/** Work that begins when the record is durable. The result, and every later one, is released after it. */
export type FollowUp = () => Promise<void> | undefined

/**
 * The record of an operation, handed in to be written. The operation does not wait for the write: the runner does, and
 * gives the result its place in the releaser at once. `finish` is synchronous, and work that takes time is a follow-up.
 * So nothing asynchronous can come between a durable record and the place of its result (R2).
 *
 * A class: its private field lets nothing else pass for it.
 */
export class Handed<T> {
  readonly #finished: Promise<Finished<T>>
  /** Called when the record is durable. */
  readonly followUp: FollowUp

  private constructor(finished: Promise<Finished<T>>, followUp: FollowUp) {
    this.#finished = finished
    this.followUp = followUp
  }

  /** @param finish reads the result from what was written */
  static over<C, T>(
    written: Promise<C>,
    finish: (committed: C) => Finished<T>,
    followUp: FollowUp = nothingFollows,
  ): Handed<T> {
    return new Handed(written.then(finish), followUp)
  }

  /** The end of a stop: its record is of another writer, and durable when the run hears of it. */
  static of<T>(finished: Finished<T>): Handed<T> {
    return Handed.over(Promise.resolve(finished), (one) => one)
  }

  /** Resolves when the record is durable. For the runner, and for an operation that is a part of another one. */
  get finished(): Promise<Finished<T>> {
    return this.#finished
  }
}

const nothingFollows = (): undefined => undefined
