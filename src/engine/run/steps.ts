/** Steps and tools: journaled side effects. A step that was running may run again; a recorded step never runs again. */
import { LullError } from '../../core/errors.ts'
import type { Retry, StepFunction, StepOptions } from '../agent-task.ts'
import { stepOptionsInput } from '../inputs.ts'
import { parse } from '../parse.ts'
import { type AbortCode, Aborted } from './abort-reason.ts'
import type { Asked, Finished, OperationScope, RunCore } from './core.ts'
import type { During } from './gate.ts'
import { recordedDuring } from './gated-record.ts'
import { neverSettles } from './run-writer.ts'
import { createStepExecutor } from './step-attempt.ts'
import {
  type AttemptRecord,
  attemptRecord,
  recordedStep,
  type StepRecord,
  settledValue,
} from './step-record.ts'
import { AttemptStreams } from './step-streams.ts'

const FIRST_BACKOFF_MS = 200
const MOST_BACKOFF_MS = 60_000
const noOptions: StepOptions = {}

export interface Steps {
  run<T>(
    kind: 'step' | 'tool',
    name: string,
    code: StepFunction<T>,
    options?: StepOptions,
  ): Promise<T>
  /** The attempts of one step, until it is settled and recorded. */
  settle<T>(step: StepAttempts<T>): Promise<Finished<T>>
  /** Offers the running steps to stop: a pause interrupts, or the run is over. */
  abort(code: AbortCode): void
  /** How many of the running steps wait for a child. */
  readonly waiting: () => number
}

export interface StepAttempts<T> {
  readonly key: string
  readonly name: string
  readonly code: StepFunction<T>
  readonly options?: StepOptions
  readonly scope: OperationScope
  readonly asked: Asked
  /** How an attempt passes the gate. */
  readonly during: During
}

export function createSteps(core: RunCore): Steps {
  const { host, gate } = core
  const executor = createStepExecutor(core)

  function run<T>(
    kind: 'step' | 'tool',
    name: string,
    code: StepFunction<T>,
    given?: StepOptions,
  ): Promise<T> {
    checkName(name)
    const options = given === undefined ? noOptions : parse(stepOptionsInput, given, 'options')
    const { key: chosen } = options
    const key = chosen === undefined ? core.key(kind, name) : core.chosenKey(kind, chosen)
    const scope = core.scope
    return core.perform({
      key,
      ...(options.added ? { added: true } : {}),
      replay: (entry) => recordedStep<T>(entry),
      live: (asked) =>
        settle({
          asked,
          key,
          name,
          code,
          options,
          scope,
          during: (work) => gate.during(scope, work),
        }),
    })
  }

  async function settle<T>(step: StepAttempts<T>): Promise<Finished<T>> {
    const { key, name, scope, during, options = {} } = step
    let { made: attempt, failed: failures } = core.journal.attempts(key)
    for (;;) {
      const streams = new AttemptStreams(core, name, key)
      const attemptOnce = async (): Promise<StepRecord | AttemptRecord> => {
        // Values that the step may have seen (now, uuid, random) are durable before it acts on them.
        await core.flush()
        // The task was canceled or lost while the step waited for its next attempt: the step does nothing more.
        if (core.dead) return neverSettles()
        // Another process may have taken the task over (C3 of `cluster/membership.ts`).
        if (!host.lease.holdsLease()) await host.lease.whenLeased()
        if (core.dead) return neverSettles()
        attempt++
        return attemptOf(step, attempt, failures, streams)
      }
      const { seq, record } = await recordedDuring(core, during, attemptOnce, () =>
        streams.recording(),
      ).finally(() => streams.end())
      if (record.type === 'step') return { seq, settle: () => settledValue<T>(record) }
      if (record.outcome === 'failed') {
        const waitMs = backoffMs(options.retry, failures++)
        await gate.whileWaiting(() => waitFor(waitMs))
      }
      // A step inside a step that was told to stop does not begin again: the outer step is over, or will call it anew.
      scope.inside?.signal.throwIfAborted()
    }
  }

  async function attemptOf<T>(
    { key, name, code, scope, asked, options = {} }: StepAttempts<T>,
    attempt: number,
    failures: number,
    streams: AttemptStreams,
  ): Promise<StepRecord | AttemptRecord> {
    const { timeoutMs, retry } = options
    // A retry does everything anew. An interrupted step finds the records of what it has done.
    const prefix = failures === 0 ? `${key}/` : `${key}!${failures}/`
    const { place, mayHaveBegun } = asked
    const mayHaveRun = mayHaveBegun || attempt > 1
    const facts = { key, name, code, scope, place, timeoutMs, prefix, attempt, mayHaveRun, streams }
    const outcome = await executor.execute<T>(facts)
    if (outcome.status !== 'done') streams.end()
    // A step inside a step that is over is not recorded: no code waits for it.
    if (scope.inside?.over !== undefined) throw new Error(scope.inside.over)
    if (outcome.status !== 'interrupted') core.journal.forget(prefix)
    const retries = failures < (retry?.attempts ?? 0)
    return attemptRecord({ key, name, scope, attempt, outcome, retries })
  }

  const waitFor = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      host.clock.after(ms, resolve)
    })

  return {
    run,
    settle,
    waiting: () => [...executor.running].filter(({ waits }) => waits).length,
    abort(code) {
      const reason = new Aborted(code)
      for (const execution of executor.running) {
        // A paused step may go on: what it was doing is finished and recorded.
        if (code !== 'paused') execution.end(reason.message)
        execution.abort(reason)
      }
    },
  }
}

/** @throws LullError `INVALID_INPUT` for a name that is no text: the name is part of the record */
export function checkName(name: unknown): void {
  if (typeof name === 'string') return
  throw new LullError('INVALID_INPUT', { path: 'name', problem: 'must be a text' })
}

function backoffMs(retry: Retry | undefined, failures: number): number {
  const {
    backoffMs: first = FIRST_BACKOFF_MS,
    factor = 2,
    maxBackoffMs = MOST_BACKOFF_MS,
  } = retry ?? {}
  return Math.min(first * factor ** failures, maxBackoffMs)
}
