/** Executes one attempt of a step within its time limit. */
import { describeError } from '../../core/describe-error.ts'
import { isLullError } from '../../core/errors.ts'
import { sha256 } from '../../core/sha256.ts'
import type { Span } from '../../ports/tracing.ts'
import { Fatal, Rejection } from '../agent.ts'
import type { StepContext, StepFunction } from '../agent-task.ts'
import { checkedResult } from '../step-result.ts'
import { type AbortCode, Aborted } from './abort-reason.ts'
import { Execution } from './execution.ts'
import type { OperationScope } from './operation-scope.ts'
import type { RunCore } from './run-core.ts'
import type { Outcome } from './step-record.ts'
import type { AttemptStreams } from './step-streams.ts'
import { createStepTimeLimit } from './step-time-limit.ts'

export interface Attempt<T> {
  readonly key: string
  readonly name: string
  readonly code: StepFunction<T>
  readonly timeoutMs: number | undefined
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

const interrupting: ReadonlySet<AbortCode> = new Set<AbortCode>(['paused', 'stopping'])

/** Executes attempts of the steps of one run. */
export interface StepExecutor {
  execute<T>(attempt: Attempt<T>): Promise<Outcome>
  /** The executions that have not ended. */
  readonly running: ReadonlySet<Execution>
}

export function createStepExecutor(core: RunCore): StepExecutor {
  const { host } = core
  const running = new Set<Execution>()
  const withinTime = createStepTimeLimit(host.clock, running)

  async function execute<T>(attempt: Attempt<T>): Promise<Outcome> {
    const { name, scope, prefix, span } = attempt
    const { taskId } = core
    const execution = new Execution({ host, taskId, step: name, outer: scope.inside, span })
    running.add(execution)
    core.recount(prefix)
    core.journal.keep(prefix)
    const outcome = await outcomeOf(attempt, execution)
    running.delete(execution)
    execution.end('it has ended')
    execution.endSpan(
      outcome.status,
      outcome.status === 'failed' ? outcome.failure.name : undefined,
    )
    return outcome
  }

  async function outcomeOf<T>(attempt: Attempt<T>, execution: Execution): Promise<Outcome> {
    const { name, streams } = attempt
    try {
      const value = await withinTime(call(attempt, execution), attempt, execution)
      const { stepResultBytes } = host.limits
      return { status: 'done', result: checkedResult(name, value, stepResultBytes, streams.bytes) }
    } catch (error) {
      const fatal = isFatal(error)
      const { reason } = execution.signal
      const isInterrupted = reason instanceof Aborted && interrupting.has(reason.code)
      // A timeout and a fatal error are not caused by the pause.
      if (isInterrupted && !fatal && !execution.timedOut) return { status: 'interrupted' }
      return { status: 'failed', failure: describeError(error), fatal }
    }
  }

  /** Calls the function of the step. Reports a function that blocks the event loop or returns after its end. */
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
    const startedAt = host.clock.now()
    const begin = (): Promise<T> =>
      core.within(inner, async () => code(new Context(core, execution, attempt)))
    const work = attempt.span === undefined ? begin() : attempt.span.during(begin)
    work.then(
      () => {
        if (execution.over !== undefined) execution.returnedLate()
      },
      () => undefined,
    )
    const blockedMs = host.clock.now() - startedAt
    if (blockedMs >= host.limits.blockMs) host.blocked(agent, id, blockedMs)
    return work
  }

  return { execute, running }
}

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
