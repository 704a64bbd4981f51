/** Executes one attempt of a step within its time limit, and abandons a function that does not stop when it is told to. */

import { isLullError, LullError } from '../../../core/errors.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { Failure, JournalRecord } from '../../../core/records.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import type { Json } from '../../../core/values/json.ts'
import type { Span } from '../../../ports/tracing.ts'
import { Fatal, Rejection } from '../../author/agent.ts'
import type { StepContext, StepFunction } from '../../author/agent-task.ts'
import { checkedResult } from '../../author/step-result.ts'
import type { OperationScope } from '../operation-runner.ts'
import type { RunCore } from '../run-core.ts'
import { type AbortCode, Aborted, Execution } from './execution.ts'
import type { AttemptStreams } from './step-streams.ts'

export interface Attempt<T> {
  readonly key: string
  readonly name: string
  readonly code: StepFunction<T>
  readonly timeoutMs: number | undefined
  readonly abandonAfterMs: number
  /** The scope in which the step was called, and the place of the code then. */
  readonly scope: OperationScope
  readonly place: number
  /** The prefix of the keys of operations inside this attempt. */
  readonly prefix: string
  readonly attempt: number
  readonly mayHaveRun: boolean
  readonly streams: AttemptStreams
  /** The function of the step runs in it. */
  readonly span: Span | undefined
}

/** Whether an attempt that ends so is made again later. */
const interrupting: Readonly<Record<AbortCode, boolean>> = {
  paused: true,
  stopping: true,
  canceled: false,
  ended: false,
  'given-up': false,
  evicted: false,
  'taken-over': false,
}

/** The outcome of one attempt. */
export type Outcome =
  | { readonly status: 'done'; readonly result: Json | undefined }
  | { readonly status: 'interrupted' }
  | { readonly status: 'failed'; readonly failure: Failure; readonly fatal: boolean }

export interface Executed {
  readonly outcome: Outcome
  /** Resolves when the function is in flight no longer. Undefined: it is not. */
  readonly landed: Promise<void> | undefined
}

/** Executes attempts of the steps of one run. */
export interface StepExecutor {
  execute<T>(attempt: Attempt<T>): Promise<Executed>
  /** The executions whose functions are in flight. */
  readonly acting: () => Iterable<Execution>
  /** The run ends: tells the functions in flight to stop, and waits for them no longer. Resolves when that is recorded. */
  abandonAll(): Promise<void>
}

type Abandoned = JournalRecord & { readonly type: 'abandoned' }

export function createStepExecutor(core: RunCore): StepExecutor {
  const { host, taskId } = core
  const acting = new Map<Execution, Abandoned>()

  async function execute<T>(attempt: Attempt<T>): Promise<Executed> {
    const { key, name, attempt: number, scope, prefix, span, abandonAfterMs } = attempt
    const outer = scope.inside
    const execution = new Execution({
      ...{ host, taskId, step: name, outer, span, abandonAfterMs, expired },
      settled: (one) => settled(one, record),
    })
    const record: Abandoned = { type: 'abandoned', key, name, attempt: number }
    acting.set(execution, record)
    core.recount(prefix)
    core.journal.keep(prefix)
    const outcome = await outcomeOf(attempt, execution)
    const landed = execution.inFlight ? execution.landed() : undefined
    if (landed !== undefined) core.gate.whileInFlight(landed)
    execution.end('it has ended')
    execution.endSpan(
      outcome.status,
      outcome.status === 'failed' ? outcome.failure.name : undefined,
    )
    return { outcome, landed }
  }

  async function outcomeOf<T>(attempt: Attempt<T>, execution: Execution): Promise<Outcome> {
    const { name, streams } = attempt
    const endLimit = startTimeLimit(attempt, execution)
    try {
      const value = await execution.outcome(call(attempt, execution))
      const { stepResultBytes } = host.limits
      return { status: 'done', result: checkedResult(name, value, stepResultBytes, streams.bytes) }
    } catch (error) {
      const fatal = isFatal(error)
      const { reason } = execution.signal
      const isInterrupted = reason instanceof Aborted && interrupting[reason.code]
      // A timeout and a fatal error are not caused by the pause.
      if (isInterrupted && !fatal && !execution.timedOut) return { status: 'interrupted' }
      return { status: 'failed', failure: describeError(error), fatal }
    } finally {
      endLimit()
    }
  }

  /**
   * The attempt fails with `STEP_TIMEOUT` when its time is over. Its function, and those of the steps inside it, are told to
   * stop.
   * @returns ends the limit
   */
  function startTimeLimit(
    { name: step, timeoutMs }: Attempt<unknown>,
    execution: Execution,
  ): () => void {
    if (timeoutMs === undefined) return nothing
    return host.clock.after(timeoutMs, () => {
      const error = new LullError('STEP_TIMEOUT', { step, timeoutMs })
      execution.fail(error)
      for (const one of acting.keys()) {
        if (one === execution || one.isInside(execution)) one.timeOut(error)
      }
    })
  }

  /** Calls the function of the step. Reports a function that blocks the event loop. */
  function call<T>(attempt: Attempt<T>, execution: Execution): Promise<T> {
    const { code, scope, prefix, place, mayHaveRun } = attempt
    const { agent, id } = core.task
    const inner: OperationScope = {
      ...scope,
      inside: execution,
      prefix,
      place,
      ...(mayHaveRun ? { mayHaveRun } : {}),
    }
    const startedAt = host.clock.elapsed()
    const before = host.running(id)
    const begin = (): Promise<T> =>
      core.within(inner, async () => code(new Context(core, execution, attempt)))
    const work = attempt.span === undefined ? begin() : attempt.span.during(begin)
    host.running(before)
    const blockedMs = host.clock.elapsed() - startedAt
    if (blockedMs >= host.limits.blockMs) host.blocked(agent, id, blockedMs)
    return work
  }

  /** A function that a pause told to stop goes on as before when the pause was withdrawn. */
  function expired(execution: Execution): void {
    const record = acting.get(execution)
    if (record === undefined) return
    if (core.dead) {
      const { name: step, attempt } = record
      const text = 'a step goes on although its run is over; it may still act'
      host.log('warn', text, { taskId, step, attempt })
    } else if (execution.timedOut || core.task.pausing?.mode === 'interrupt_immediate') {
      void abandon(execution, record)
    }
  }

  function abandon(execution: Execution, record: Abandoned): Promise<void> {
    acting.delete(execution)
    const { name: step, attempt } = record
    const text = 'a step did not stop when it was told to; it is waited for no longer'
    host.log('warn', text, { taskId, step, attempt })
    return execution.abandon(core.record(record).then(nothing, notRecorded))
  }

  function notRecorded(error: unknown): void {
    host.log('error', 'an abandoned step could not be recorded', { taskId, error })
  }

  /** An abandoned execution that has ended acts no more. That is written with the next record of the run. */
  function settled(execution: Execution, record: Abandoned): void {
    acting.delete(execution)
    if (!execution.abandoned || core.dead) return
    core.writeWithNext({ type: 'record', records: [{ ...record, settled: true }] })
  }

  return {
    execute,
    acting: () => acting.keys(),
    async abandonAll() {
      const reason = new Aborted('ended')
      const abandoned = [...acting].map(([execution, record]) => {
        execution.giveUp(reason)
        return abandon(execution, record)
      })
      await Promise.all(abandoned)
    },
  }
}

const nothing = (): void => undefined

/** The signal and the idempotency key are created when the step reads them, because few steps do. */
class Context implements StepContext {
  readonly #core: RunCore
  readonly #execution: Execution
  readonly #key: string
  readonly attempt: number
  readonly mayHaveRun: boolean
  readonly #streams: AttemptStreams

  constructor(core: RunCore, execution: Execution, facts: Attempt<unknown>) {
    this.#core = core
    this.#execution = execution
    this.#key = facts.key
    this.attempt = facts.attempt
    this.mayHaveRun = facts.mayHaveRun
    this.#streams = facts.streams
  }

  get idempotencyKey(): string {
    const { task } = this.#core
    return sha256(`${task.id}/${task.journal.generation}/${this.#key}`).slice(0, 32)
  }

  get stream(): StepContext['stream'] {
    return (name) => this.#streams.open(name)
  }

  get signal(): AbortSignal {
    return this.#execution.signal
  }
}

/** Whether a retry would not help, or would repeat a side effect that has happened. */
function isFatal(error: unknown): boolean {
  try {
    if (error instanceof Fatal || error instanceof Rejection) return true
    return isLullError(error, 'STEP_RESULT') || describeError(error).name === 'Fatal'
  } catch {
    // A proxy may throw when it is inspected.
    return false
  }
}
