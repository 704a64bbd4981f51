/**
 * The path of every operation of a run.
 *
 *   operation ── recorded? ──yes──▶ releaser ──▶ agent code
 *        └──no──▶ gate ──▶ work ──▶ persist (durable) ──▶ releaser ──▶ follow-up ──▶ agent code
 *
 * R1  A recorded operation is never executed again.
 * R2  Its result reaches the agent only after its record is durable, in the order of the records. It has its place in the
 *     releaser from when the record is durable: an operation hands in its record (`HandedIn`) and does not wait for it.
 * R3  A run that lost its task (dead) settles nothing and writes nothing.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { JournalRecord } from '../../core/records.ts'
import type { Committed } from '../ledger/ledger.ts'
import { admit, type CallSite } from './admission.ts'
import type { During, Scope } from './gate.ts'
import { type Execution, untilAborted } from './operations/execution.ts'
import { type Entry, recordOf } from './replay/journal.ts'
import type { RunCore } from './run-core.ts'
import { neverSettles } from './run-writer.ts'

/**
 * Wraps every call that agent code makes. An invalid call always rejects and never throws at once. A rejection that no code
 * awaits does not end the process.
 */
export function agentCall<T>(call: () => Promise<T>): Promise<T> {
  let promise: Promise<T>
  try {
    promise = call()
  } catch (error) {
    promise = Promise.reject(error)
  }
  promise.catch(() => undefined)
  return promise
}

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
  readonly live: (site: CallSite) => Promise<HandedIn<T>>
  /** The operation has no effect outside of the task, so it may be new at any place of the code. */
  readonly isTaskOnly?: true
  /** It only waits, for the end of a stop or of a child. It has no effect that a run waits for when its code has ended. */
  readonly waits?: true
  /** The agent declares the operation as new (`added`). */
  readonly added?: true
}

/** An operation whose record is durable. */
interface Finished<T> {
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
export class HandedIn<T> {
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
  ): HandedIn<T> {
    return new HandedIn(written.then(finish), followUp)
  }

  /** The record of the operation itself. */
  static record<R extends JournalRecord, T>(
    { record, written }: RecordInWriting<R>,
    settle: () => T,
    followUp?: FollowUp,
  ): HandedIn<T> {
    const finish = (done: Committed): Finished<T> => ({ seq: seqOf(record, done), settle })
    return HandedIn.over(written, finish, followUp)
  }

  /** The end of a stop: its record is of another writer, and durable when the run hears of it. */
  static of<T>(finished: Finished<T>): HandedIn<T> {
    return HandedIn.over(Promise.resolve(finished), (one) => one)
  }

  /** Resolves when the record is durable. For the runner, and for an operation that is a part of another one. */
  get finished(): Promise<Finished<T>> {
    return this.#finished
  }
}

const nothingFollows = (): undefined => undefined

/** A record that is handed in to be written. */
interface RecordInWriting<R extends JournalRecord> {
  readonly record: R
  readonly written: Promise<Committed>
}

/**
 * Hands in a record as a separate operation, which passes the gate.
 * @param before records that come before it in the same commit
 */
export function handInRecord<R extends JournalRecord>(
  core: RunCore,
  scope: Scope,
  make: () => R | Promise<R>,
  before?: () => readonly JournalRecord[],
): Promise<RecordInWriting<R>> {
  return handInDuring(core, (work) => core.gate.during(scope, work), make, before)
}

/**
 * Executes work as an operation and hands in the record of its result. The record is queued before the gate is left and
 * awaited afterwards, so that a pause that waits for the operation shares its commit.
 * @param before records that come before it in the same commit
 */
export function handInDuring<R extends JournalRecord>(
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

/** A class: one instance per run is cheaper than one closure per method and run. */
export class OperationRunner {
  readonly #core: RunCore
  readonly #open = new Map<Operation<unknown>, Promise<unknown>>()
  #unsettled = 0
  #lastResult = 0

  constructor(core: RunCore) {
    this.#core = core
  }

  /** How many operations were called and have no result in the releaser yet. */
  get unsettled(): number {
    return this.#unsettled
  }

  /** The operations whose results the code has not got yet. */
  get open(): ReadonlyMap<Operation<unknown>, Promise<unknown>> {
    return this.#open
  }

  /** The number of the record whose result code outside of steps got last. */
  get lastResult(): number {
    return this.#lastResult
  }

  perform<T>(operation: Operation<T>): Promise<T> {
    if (this.#core.dead) return neverSettles()
    const site = this.#core.callSite()
    const entry = this.#core.journal.get(operation.key)
    const promise =
      entry === undefined ? this.#fresh(operation, site) : this.#recorded(operation, entry, site)
    this.#open.set(operation, promise)
    const close = (): void => {
      this.#open.delete(operation)
    }
    // The failure of an operation that the agent does not await must not end the process.
    promise.then(close, close)
    return promise
  }

  #fresh<T>(operation: Operation<T>, site: CallSite): Promise<T> {
    this.#unsettled++
    const admitted = admit(this.#core, operation, site)
    const live = (): Promise<HandedIn<T>> => operation.live(site)
    const handing = admitted === undefined ? live() : admitted.then(live)
    return new Promise((resolve, reject) => {
      const release = async (): Promise<void> => {
        const handed = await handing
        const { seq, settle } = await handed.finished
        this.#unsettled--
        const settled = (): void => resolve(settle())
        this.#release({ seq, place: site.place, settle: settled, reject }, handed.followUp)
      }
      release().catch((error: unknown) => {
        this.#unsettled--
        if (!this.#core.dead) reject(error)
      })
    })
  }

  #recorded<T>(operation: Operation<T>, entry: Entry, site: CallSite): Promise<T> {
    const { key, fingerprint, added } = operation
    const { inside } = this.#core.scope
    const differs = hasChanged(entry, fingerprint)
    const place = added || !this.#core.journal.isInPlace(key, entry) ? site.place : entry.seq
    return new Promise((resolve, reject) => {
      const answer = (): void => {
        const found = differs ? undefined : operation.replay(entry)
        if (found === undefined) {
          this.#core.policy.mismatch(key)
          // The stop waits until the step around the call has ended.
          if (inside !== undefined) untilAborted(inside.signal).catch(reject)
        } else if (entry.seq <= this.#core.journal.knownUpTo) resolve(found.value)
      }
      this.#release({ seq: entry.seq, place, settle: answer, reject })
    })
  }

  #release({ seq, place, settle, reject }: Result, followUp?: FollowUp): void {
    if (this.#core.dead) return
    const { scope } = this.#core
    const nested = scope.inside !== undefined
    let failed: { readonly error: unknown } | undefined
    const after = followUp?.()?.catch((error: unknown) => {
      failed = { error }
    })
    const handOut = (): void => {
      if (this.#core.dead) return
      this.#core.journal.wakes.show(seq)
      if (!nested) this.#lastResult = seq
      this.#core.place.noteResult(scope, seq, place)
      try {
        if (failed === undefined) settle()
        else reject(failed.error)
      } catch (error) {
        reject(error)
      }
    }
    this.#core.releaser.push(seq, handOut, { nested, after })
    // A pause under way may wait until this result is withheld.
    this.#core.run.checkBoundary()
  }

  /** Resolves in the order of results, at the turn of that record. */
  released(seq: number, place: number): Promise<void> {
    return new Promise((settle, reject) => this.#release({ seq, place, settle, reject }))
  }
}

/** A step has a fingerprint only where its input was given. Code may begin to give one, or stop giving it. */
function hasChanged(entry: Entry, fingerprint: string | undefined): boolean {
  if (entry.kind !== 'record') return entry.fingerprint !== fingerprint
  const recorded = recordOf(entry, 'step')?.inputDigest
  return recorded !== undefined && fingerprint !== undefined && recorded !== fingerprint
}

interface Result {
  readonly seq: number
  /** The place of the code after it got the result. */
  readonly place: number
  readonly settle: () => void
  readonly reject: (error: unknown) => void
}
