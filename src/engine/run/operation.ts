/** A journaled `task.*` call, the scope that it is called in, and how its record is handed in. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { JournalRecord } from '../../core/records.ts'
import type { Committed } from '../ledger/ledger.ts'
import type { During, Scope } from './gate.ts'
import type { CallSite } from './replay/code-place.ts'
import type { Entry } from './replay/journal.ts'
import type { RunCore } from './run-core.ts'
import type { Execution } from './steps/execution.ts'

/** The turn or step in which an operation is called. It follows the code of a run through its promises. */
export interface OperationScope extends Scope {
  /** The execution of the step whose function called it, if any. */
  readonly inside?: Execution | undefined
  /**
   * The prefix of keys inside a step. They are counted per step, because a recorded step does not run its function
   * again.
   */
  readonly prefix: string
  /** Whether an earlier execution of the step may have begun. */
  readonly mayHaveRun?: true
  /** The place of the code when it called the step. */
  readonly place?: number
}

const top: OperationScope = { prefix: '' }
/** One storage for all runs, because Node attaches every storage to every promise. */
const scopes = new AsyncLocalStorage<{ readonly run: object; readonly scope: OperationScope }>()

/** The scope that code of this run is in. A run that was started by a step of another run is not inside that step. */
export function scopeOf(run: object): OperationScope {
  const current = scopes.getStore()
  return current?.run === run ? current.scope : top
}

/** Runs code so that the operations it calls know their scope. */
export function within<T>(run: object, scope: OperationScope, code: () => T): T {
  return scopes.run({ run, scope }, code)
}

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

  /** The record of the operation itself. */
  static record<R extends JournalRecord, T>(
    { record, written }: RecordInWriting<R>,
    settle: () => T,
    followUp?: FollowUp,
  ): Handed<T> {
    const finish = (done: Committed): Finished<T> => ({ seq: seqOf(record, done), settle })
    return Handed.over(written, finish, followUp)
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

/** A record that is handed in to be written. */
export interface RecordInWriting<R extends JournalRecord> {
  readonly record: R
  readonly written: Promise<Committed>
}

/**
 * Hands in a record as an operation of its own.
 * @param before records that come before it in the same commit
 */
export function gatedRecord<R extends JournalRecord>(
  core: RunCore,
  scope: Scope,
  make: () => R | Promise<R>,
  before?: () => readonly JournalRecord[],
): Promise<RecordInWriting<R>> {
  return recordedDuring(core, (work) => core.gate.during(scope, work), make, before)
}

/**
 * Executes work as an operation and hands in the record of its result. The record is queued before the gate is left and
 * awaited afterwards, so that a pause that waits for the operation shares its commit.
 * @param before records that come before it in the same commit
 */
export function recordedDuring<R extends JournalRecord>(
  core: RunCore,
  during: During,
  work: () => R | Promise<R>,
  before?: () => readonly JournalRecord[],
): Promise<RecordInWriting<R>> {
  return during(async () => {
    const record = await work()
    return { record, written: core.record(record, before?.()) }
  })
}

/** The number of the record in its commit. */
export function seqOf({ key }: JournalRecord, { records }: Committed): number {
  return records.find((one) => 'key' in one && one.key === key)?.seq ?? 0
}
