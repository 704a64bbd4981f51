/**
 * A task stops once at a time.
 *
 * S1  While the code waits for a stop (a park, a sleep, a question), no other stop and no wait for a child begins, and
 *     while it waits for a child outside of a step, no stop begins. The call is refused before anything is written.
 * S2  If both were called in the same reaction to a result, as in `Promise.race([task.park(…), task.sleep(…)])`, both are
 *     refused, so that no stop goes on behind code that has got the error. A stop therefore begins only when the code has
 *     reacted.
 * S3  A rebuilt run refuses the same calls: a call is open from when the code makes it until the code gets its result, and
 *     results are handed out in the order of their records.
 */

import { LullError } from '../../../core/errors.ts'

/** A call that waits: `result` for the result of a child. */
export type WaitingCall = 'park' | 'sleep' | 'ask' | 'requireAuth' | 'requireConsent' | 'result'

interface Open {
  readonly call: WaitingCall
  readonly reaction: Promise<void>
  readonly refuse: (error: Error) => void
  refusal: Error | undefined
}

/** A call that has passed. */
export interface Passed {
  /** Resolves when the code has reacted to the result after which it made the call. */
  readonly reacted: Promise<void>
  /** Why the call was refused after it had passed, if it was (S2). */
  readonly refusal: () => Error | undefined
}

/** A class: one instance per run is cheaper than one closure per method and run. */
export class OneStop {
  readonly #open: Set<Open> = new Set()
  #reaction: Promise<void> | undefined

  /** @throws LullError `INVALID_INPUT` through the promise (S1) */
  wait<T>(call: WaitingCall, begin: (passed: Passed) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const rivals = [...this.#open].filter((other) => conflict(other.call, call))
      const [rival] = rivals
      if (rival !== undefined) {
        const error = refusalOf(rival.call, call)
        for (const other of rivals)
          if (other.reaction === this.#reaction) this.#refuse(other, error)
        reject(error)
        return
      }
      const reaction = this.#reactionNow()
      const open: Open = { call, reaction, refuse: reject, refusal: undefined }
      this.#open.add(open)
      const close = (): void => {
        this.#open.delete(open)
      }
      let beginning: Promise<T>
      try {
        beginning = begin({ reacted: reaction, refusal: () => open.refusal })
      } catch (error) {
        close()
        throw error
      }
      beginning.then(
        (value) => {
          close()
          resolve(value)
        },
        (error: unknown) => {
          close()
          reject(error)
        },
      )
    })
  }

  /** It lasts until all microtasks have run. The next result is handed out after that (`releaser.ts`). */
  #reactionNow(): Promise<void> {
    this.#reaction ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#reaction = undefined
        resolve()
      })
    })
    return this.#reaction
  }

  #refuse(open: Open, error: Error): void {
    open.refusal = error
    this.#open.delete(open)
    open.refuse(error)
  }
}

function conflict(one: WaitingCall, other: WaitingCall): boolean {
  return one !== 'result' || other !== 'result'
}

const names: { readonly [C in WaitingCall]: string } = {
  park: 'task.park',
  sleep: 'task.sleep',
  ask: 'task.ask',
  requireAuth: 'task.requireAuth',
  requireConsent: 'task.requireConsent',
  result: 'child.result',
}

/** What a park says for the call; undefined for a question, which no park can ask. */
const conditions: { readonly [C in WaitingCall]: string | undefined } = {
  park: 'onEvent',
  sleep: "timeout: { afterMs: '1 hour' }",
  result: 'child',
  ask: undefined,
  requireAuth: undefined,
  requireConsent: undefined,
}

function refusalOf(one: WaitingCall, other: WaitingCall): LullError<'INVALID_INPUT'> {
  const pair = `${names[one]} and ${names[other]} cannot wait at the same time: a task stops once.`
  return new LullError('INVALID_INPUT', { path: '', problem: `${pair} ${instead(one, other)}` })
}

/** The one call that does it. */
function instead(one: WaitingCall, other: WaitingCall): string {
  const wanted = [one, other].map((call) => conditions[call])
  if (wanted.every((condition) => condition !== undefined)) {
    const both = [...new Set(wanted)].sort()
    return `One park can wait for both, and the first wakes it: await task.park({ reason: '…', ${both.join(', ')} })`
  }
  const question = conditions[one] === undefined ? one : other
  return [one, other].includes('sleep')
    ? `A question can expire by itself: await task.${question}(…, { expiresInMs: '1 hour' })`
    : `Await one after the other: await task.${question}(…)`
}
