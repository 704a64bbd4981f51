/**
 * The path of every operation of a run.
 *
 *   operation ── recorded? ──yes──▶ releaser ──▶ agent code
 *        └──no──▶ gate ──▶ work ──▶ persist (durable) ──▶ releaser ──▶ follow-up ──▶ agent code
 *
 * R1  A recorded operation is never executed again.
 * R2  Its result reaches the agent only after its record is durable, in the order of the records. It has its place in the
 *     releaser from when the record is durable: an operation hands in its record (`Handed`) and does not wait for it.
 * R3  A run that lost its task (dead) settles nothing and writes nothing.
 */
import { untilAborted } from './abort-reason.ts'
import type { FollowUp, Handed, Operation } from './operation.ts'
import type { CallSite } from './replay/code-place.ts'
import { type Entry, recordOf } from './replay/journal.ts'
import type { RunCore } from './run-core.ts'
import { neverSettles } from './run-writer.ts'

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
    const admitted = this.#core.admit(operation, site)
    const live = (): Promise<Handed<T>> => operation.live(site)
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
    this.#core.run.moved()
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
