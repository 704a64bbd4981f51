/** Makes attempts of a step until one settles it. */
import type { StepFunction } from '../../author/agent-task.ts'
import type { During } from '../gate.ts'
import { recordedDuring, seqOf } from '../gated-record.ts'
import { Handed } from '../operation.ts'
import type { OperationScope } from '../operation-scope.ts'
import type { CallSite } from '../replay/code-place.ts'
import type { RunCore } from '../run-core.ts'
import { allowedDuring } from './allowed-during.ts'
import type { Executed, StepExecutor } from './step-attempt.ts'
import type { CheckedStepOptions } from './step-options.ts'
import { type AttemptRecord, attemptRecord, type StepRecord, settledValue } from './step-record.ts'
import { AttemptStreams } from './step-streams.ts'

const FIRST_BACKOFF_MS = 200
const MOST_BACKOFF_MS = 60_000

/** A step that has no record yet. */
export interface UnsettledStep<T> {
  readonly key: string
  readonly name: string
  readonly code: StepFunction<T>
  readonly options?: CheckedStepOptions
  /** Of the input that the code gave (`with`). */
  readonly inputDigest?: string | undefined
  readonly scope: OperationScope
  readonly site: CallSite
  /** How an attempt passes the gate. */
  readonly during: During
}

/** Resolves when the step is settled and its record is handed in. */
export async function settleStep<T>(
  core: RunCore,
  executor: StepExecutor,
  step: UnsettledStep<T>,
): Promise<Handed<T>> {
  const { key, name, scope, during, options = {} } = step
  const whenAllowed = allowedDuring(core, scope, key, during)
  let { made: attempt, failed: failures } = core.journal.attempts(key)
  let landed: Promise<void> | undefined
  for (;;) {
    const streams = new AttemptStreams(core, name, key)
    const attemptOnce = async (): Promise<StepRecord | AttemptRecord> => {
      expectGoingOn(scope)
      attempt++
      const made = await executeAttempt(core, executor, step, { attempt, failures, streams })
      landed = made.landed
      return made.record
    }
    const attempting = recordedDuring(core, whenAllowed, attemptOnce, () => streams.recording())
    const { record, written } = await attempting.catch((error: unknown) => {
      streams.end()
      throw error
    })
    const recorded = written.finally(() => streams.end())
    if (record.type === 'step') {
      const settle = (): T => settledValue<T>(record)
      return Handed.over(recorded, (done) => ({ seq: seqOf(record, done), settle }))
    }
    await recorded
    if (record.outcome === 'failed') {
      const waitMs = backoffMs(options.retry, failures++)
      // No two attempts act at the same time, unless the first one was abandoned.
      await core.gate.whileWaiting(() => Promise.all([waitFor(core, waitMs), landed]))
    }
    // A step inside an aborted step is not tried again: the outer step is over, or calls it again itself.
    scope.inside?.signal.throwIfAborted()
  }
}

interface NextAttempt {
  readonly attempt: number
  readonly failures: number
  readonly streams: AttemptStreams
}

interface Attempted extends Pick<Executed, 'landed'> {
  readonly record: StepRecord | AttemptRecord
}

async function executeAttempt<T>(
  { journal, segment, task, host }: RunCore,
  executor: StepExecutor,
  { key, name, code, scope, site, inputDigest, options = {} }: UnsettledStep<T>,
  { attempt, failures, streams }: NextAttempt,
): Promise<Attempted> {
  const { timeoutMs, abandonAfterMs = host.limits.abandonAfterMs, retry } = options
  // A retry executes the operations inside the step again. An interrupted step finds their records.
  const prefix = failures === 0 ? `${key}/` : `${key}!${failures}/`
  const { place, mayHaveBegun } = site
  const mayHaveRun = mayHaveBegun || attempt > 1
  const span = segment.step(task, { key, name, attempt })
  const facts = { key, name, code, scope, place, prefix, attempt, mayHaveRun, streams }
  const limits = { timeoutMs, abandonAfterMs }
  const { outcome, landed } = await executor.execute<T>({ ...facts, ...limits, span })
  if (outcome.status !== 'done') streams.end()
  expectGoingOn(scope)
  if (outcome.status !== 'interrupted') journal.forget(prefix)
  const retries = failures < (retry?.attempts ?? 0)
  return {
    record: attemptRecord({ key, name, scope, attempt, outcome, retries, inputDigest }),
    landed,
  }
}

/** A step inside a step that is over neither begins nor is recorded: no code waits for it. */
function expectGoingOn({ inside }: OperationScope): void {
  if (inside?.over !== undefined) throw new Error(inside.over)
}

function waitFor({ host }: RunCore, ms: number): Promise<void> {
  return new Promise((resolve) => {
    host.clock.after(ms, resolve)
  })
}

function backoffMs(retry: CheckedStepOptions['retry'], failures: number): number {
  const {
    backoffMs: first = FIRST_BACKOFF_MS,
    factor = 2,
    maxBackoffMs = MOST_BACKOFF_MS,
  } = retry ?? {}
  return Math.min(first * factor ** failures, maxBackoffMs)
}
