/**
 * One execution of a step's function: its signal, and whether the function may still act through the task.
 *
 * X1  Once the execution is over (it returned, failed, timed out or was interrupted, or its task ended) its `task.*`
 *     calls are refused, and its result is not used.
 * X2  The first later call or result is logged once, with the task and the step.
 * X3  A step inside a step is over when the outer step is over.
 * X4  A step waits for a child while a call or a step inside it waits for one.
 * X5  Its span ends once: with the outcome of the function, or when its run is over, whatever the function does then.
 * X6  Its function is in flight until it settles, also when it was told to stop before (by its time limit, a pause, the end of
 *     its run). From then on it is in flight for `abandonAfterMs` at most, and is then abandoned: it may still act.
 *
 *       running ──told to stop──▶ expected to end ──abandonAfterMs──▶ abandoned
 *          └───────settles──────────┴──▶ settled ◀───────settles─────────┘
 */

import { LullError } from '../../../core/errors.ts'
import type { Span } from '../../../ports/tracing.ts'
import type { RunHost } from '../host.ts'

export interface ExecutionDeps {
  readonly host: Pick<RunHost, 'log' | 'clock'>
  readonly taskId: string
  readonly step: string
  readonly outer: Execution | undefined
  readonly span?: Span | undefined
  readonly abandonAfterMs: number
  /** Called when its function is in flight `abandonAfterMs` after it was told to stop (X6). */
  expired(execution: Execution): void
  /** Called when its function has settled. */
  settled(execution: Execution): void
}

type Phase = 'running' | 'expected to end' | 'abandoned' | 'settled'

export class Execution {
  readonly #deps: ExecutionDeps
  readonly #controller = new AbortController()
  #over: string | undefined
  #reported = false
  #timedOut = false
  #waits = 0
  #span: Span | undefined
  #phase: Phase = 'running'
  #cancelExpiry: (() => void) | undefined
  /** Rejects the outcome. */
  #fail: ((error: unknown) => void) | undefined
  /** Called when the function is in flight no longer. */
  #landed: (() => void) | undefined

  constructor(deps: ExecutionDeps) {
    this.#deps = deps
    this.#span = deps.span
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Why the function may not act any more. Undefined: it may. */
  get over(): string | undefined {
    return this.#over ?? this.#deps.outer?.over
  }

  /** Whether it waits for a child (X4). */
  get waits(): boolean {
    return this.#waits > 0
  }

  async whileWaiting<T>(wait: () => Promise<T>): Promise<T> {
    this.#addWaits(1)
    try {
      return await wait()
    } finally {
      this.#addWaits(-1)
    }
  }

  #addWaits(count: number): void {
    this.#waits += count
    const { outer } = this.#deps
    if (outer !== undefined) outer.#addWaits(count)
  }

  /** Whether its function is in flight (X6). */
  get inFlight(): boolean {
    return this.#phase === 'running' || this.#phase === 'expected to end'
  }

  get abandonAfterMs(): number {
    return this.#deps.abandonAfterMs
  }

  get abandoned(): boolean {
    return this.#phase === 'abandoned'
  }

  /** The result of its function, or the error that ended the execution before. */
  outcome<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#fail = reject
      work.then(
        (value) => {
          if (this.over !== undefined) this.#returnedLate()
          this.#settle()
          resolve(value)
        },
        (error: unknown) => {
          this.#settle()
          reject(error)
        },
      )
    })
  }

  /** Resolves when its function is in flight no longer. */
  landed(): Promise<void> {
    return new Promise((resolve) => {
      this.#landed = resolve
    })
  }

  #settle(): void {
    this.#cancelExpiry?.()
    this.#deps.settled(this)
    this.#phase = 'settled'
    this.#landed?.()
  }

  /** Waits for its function no longer, once that is written (X6). */
  async abandon(written: Promise<void>): Promise<void> {
    this.#cancelExpiry?.()
    this.#phase = 'abandoned'
    await written
    this.#landed?.()
    this.#fail?.(this.signal.reason)
  }

  /** Fires the signal, which asks the function to stop. */
  abort(reason: Error): void {
    this.#controller.abort(reason)
    this.#expectEnd()
  }

  #expectEnd(): void {
    if (this.#phase !== 'running') return
    this.#phase = 'expected to end'
    const { host, abandonAfterMs, expired } = this.#deps
    this.#cancelExpiry = host.clock.after(abandonAfterMs, () => {
      if (this.#phase !== 'expected to end') return
      this.#phase = 'running'
      expired(this)
    })
  }

  /** Whether it timed out, or a step around it did. */
  get timedOut(): boolean {
    return this.#timedOut
  }

  timeOut(error: Error): void {
    this.#timedOut = true
    this.end(error.message)
    this.abort(error)
  }

  /** Its attempt fails now, whatever its function does. */
  fail(error: Error): void {
    this.#fail?.(error)
  }

  end(why: string): void {
    this.#over ??= why
  }

  /** The run is over. */
  giveUp(reason: Error): void {
    this.end(reason.message)
    this.abort(reason)
    this.endSpan('aborted')
  }

  /** @param errorType of a failure (X5) */
  endSpan(outcome: string, errorType?: string): void {
    const span = this.#span
    if (span === undefined) return
    this.#span = undefined
    span.set({ 'lull.step.outcome': outcome })
    if (errorType !== undefined) span.fail(errorType)
    span.end()
  }

  isInside(outer: Execution): boolean {
    const { outer: mine } = this.#deps
    return mine !== undefined && (mine === outer || mine.isInside(outer))
  }

  /** @throws LullError `INVALID_INPUT` once it is over (X1) */
  allow(call: string): void {
    const { over } = this
    if (over === undefined) return
    const { step } = this.#deps
    this.#report(`a step called ${call} after it was over; the call was refused`, over)
    const problem = `${call} was called in step "${step}" after that step was over (${over})`
    throw new LullError('INVALID_INPUT', { path: '', problem })
  }

  /** The function returned although the step was over before. */
  #returnedLate(): void {
    this.#report('a step returned after it was over; its result is not used', this.over ?? '')
  }

  #report(text: string, why: string): void {
    if (this.#reported) return
    this.#reported = true
    const { host, taskId, step } = this.#deps
    host.log('warn', text, { taskId, step, why })
  }
}

/** Why the signal of a step or of a task fires. A step that ran out of time gets the `STEP_TIMEOUT` error instead. */
export type AbortCode =
  | 'paused'
  | 'canceled'
  | 'ended'
  | 'given-up'
  | 'evicted'
  | 'stopping'
  | 'taken-over'

const sentences: Readonly<Record<AbortCode, string>> = {
  paused: 'interrupted by a pause',
  canceled: 'the task was canceled',
  ended: 'the task has ended',
  'given-up': 'the run was given up by a pause; it is rebuilt on resume',
  evicted: 'the run was evicted from memory; it is rebuilt when the task goes on',
  stopping: 'the process is stopping; another one goes on with the task',
  'taken-over': 'another process has taken the task over',
}

/** The reason of the signal. Its name is the one that `fetch` and timers use, so that callers know an abort. */
export class Aborted extends Error {
  override readonly name = 'AbortError'
  readonly code: AbortCode

  constructor(code: AbortCode) {
    super(sentences[code])
    this.code = code
  }
}

/** Rejects when the signal fires, because the stop of the task waits until the step has ended. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
  })
}
