/**
 * One execution of a step's function: its signal, and whether the function may still act through the task.
 *
 * X1  Once the execution is over (it returned, failed, timed out or was interrupted, or its task ended) its `task.*`
 *     calls are refused, and its result is not used.
 * X2  The first later call or result is logged once, with the task and the step.
 * X3  A step inside a step is over when the outer step is over.
 * X4  A step waits for a child while a call or a step inside it waits for one.
 * X5  Its span ends once: with the outcome of the function, or when its run is over, whatever the function does then.
 */
import { LullError } from '../../core/errors.ts'
import type { Span } from '../../ports/tracing.ts'
import type { RunHost } from './host.ts'

export interface ExecutionDeps {
  readonly host: Pick<RunHost, 'log'>
  readonly taskId: string
  readonly step: string
  readonly outer: Execution | undefined
  readonly span?: Span | undefined
}

export class Execution {
  readonly #deps: ExecutionDeps
  readonly #controller = new AbortController()
  #over: string | undefined
  #told = false
  #timedOut = false
  #waits = 0
  #span: Span | undefined

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

  /** Fires the signal, which asks the function to stop. */
  abort(reason: Error): void {
    this.#controller.abort(reason)
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
    this.#tell(`a step called ${call} after it was over; the call was refused`, over)
    const problem = `${call} was called in step "${step}" after that step was over (${over})`
    throw new LullError('INVALID_INPUT', { path: '', problem })
  }

  /** The function returned although the step was over before. */
  returnedLate(): void {
    this.#tell('a step returned after it was over; its result is not used', this.over ?? '')
  }

  #tell(text: string, why: string): void {
    if (this.#told) return
    this.#told = true
    const { host, taskId, step } = this.#deps
    host.log('warn', text, { taskId, step, why })
  }
}
