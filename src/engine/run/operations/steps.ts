/**
 * Steps and tools: journaled side effects. A recorded step never runs again. A step without a record may run again.
 * A step has one record for each attempt that did not settle it, and one for the attempt that did.
 */

import { LullError } from '../../../core/errors.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { Failure, JournalRecord } from '../../../core/records.ts'
import type { StepFunction, StepOptions } from '../../author/agent-task.ts'
import type { CheckedStepOptions } from '../../input/agent-calls.ts'
import { stepOptionsInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { type CallSite, whenAllowed } from '../admission.ts'
import type { During } from '../gate.ts'
import { HandedIn, handInDuring, type OperationScope } from '../operation-runner.ts'
import { type Entry, recordOf } from '../replay/journal.ts'
import type { RunCore } from '../run-core.ts'
import { type AbortCode, Aborted } from './execution.ts'
import {
  createStepExecutor,
  type Executed,
  type Outcome,
  type StepExecutor,
} from './step-attempt.ts'
import { AttemptStreams } from './step-streams.ts'

type StepRecord = JournalRecord & { readonly type: 'step' }
type AttemptRecord = JournalRecord & { readonly type: 'attempt' }

const FIRST_BACKOFF_MS = 200
const MOST_BACKOFF_MS = 60_000
const noOptions: CheckedStepOptions = {}

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

export interface Steps {
  run<T>(
    kind: 'step' | 'tool',
    name: string,
    code: StepFunction<T>,
    options?: StepOptions,
  ): Promise<T>
  /** Makes attempts of one step until one settles it. Its record is handed in then. */
  settle<T>(step: UnsettledStep<T>): Promise<HandedIn<T>>
  /** Fires the signals of the running steps: a pause interrupts them, or the run is over. */
  abort(code: AbortCode): void
  /** Offers them to stop while what they were doing is still recorded: for a pause, or for a process that stops. */
  interrupt(code: 'paused' | 'stopping'): void
  /** The run ends: tells the functions in flight to stop, and waits for them no longer. Resolves when that is recorded. */
  abandonAll(): Promise<void>
  /** How long the functions in flight may take when they are told to stop. Undefined if there are none. */
  readonly abandonAfterMs: () => number | undefined
  /** How many of the running steps wait for a child. */
  readonly waiting: () => number
}

export function createSteps(core: RunCore): Steps {
  const { gate } = core
  const executor = createStepExecutor(core)
  const settle = <T>(step: UnsettledStep<T>): Promise<HandedIn<T>> =>
    settleStep(core, executor, step)

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
    const inputDigest = options.with === undefined ? undefined : sha256(canonical(options.with))
    const scope = core.scope
    return core.perform({
      key,
      ...(inputDigest === undefined ? {} : { fingerprint: inputDigest }),
      ...(options.added ? { added: true } : {}),
      replay: (entry) => replayStep<T>(entry),
      live: (site) =>
        settle({
          site,
          key,
          name,
          code,
          options,
          inputDigest,
          scope,
          during: (work) => gate.during(scope, work),
        }),
    })
  }

  return {
    run,
    settle,
    waiting: () => [...executor.acting()].filter(({ waits }) => waits).length,
    abandonAll: executor.abandonAll,
    abandonAfterMs: () =>
      greatest([...executor.acting()].map(({ abandonAfterMs }) => abandonAfterMs)),
    abort(code) {
      const reason = new Aborted(code)
      for (const execution of [...executor.acting()]) execution.giveUp(reason)
    },
    interrupt(code) {
      const reason = new Aborted(code)
      for (const execution of [...executor.acting()]) execution.abort(reason)
    },
  }
}

function greatest(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : Math.max(...numbers)
}

/** The name of a step is part of its record. @throws LullError `INVALID_INPUT` for a name that is no text */
export function checkName(name: unknown): void {
  if (typeof name === 'string') return
  throw new LullError('INVALID_INPUT', { path: 'name', problem: 'must be a text' })
}

/** Resolves when the step is settled and its record is handed in. */
async function settleStep<T>(
  core: RunCore,
  executor: StepExecutor,
  step: UnsettledStep<T>,
): Promise<HandedIn<T>> {
  const { key, name, scope, during, options = {} } = step
  const duringAllowed = whenAllowed(core, scope, key, during)
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
    const attempting = handInDuring(core, duringAllowed, attemptOnce, () => streams.recording())
    const { record, written } = await attempting.catch((error: unknown) => {
      streams.end()
      throw error
    })
    const recorded = written.finally(() => streams.end())
    if (record.type === 'step') {
      return HandedIn.record({ record, written: recorded }, () => readSettled<T>(record))
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
    record: makeAttemptRecord({ key, name, scope, attempt, outcome, retries, inputDigest }),
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

interface AttemptFacts {
  readonly key: string
  readonly name: string
  readonly scope: OperationScope
  readonly attempt: number
  readonly outcome: Outcome
  /** Whether a failure that is not fatal is followed by another attempt. */
  readonly retries: boolean
  readonly inputDigest: string | undefined
}

/** The record of an attempt: `step` if it settles the step, `attempt` if the step is tried again. */
function makeAttemptRecord(facts: AttemptFacts): StepRecord | AttemptRecord {
  const { key, name, scope, attempt, outcome, retries, inputDigest } = facts
  const base = { key, attempt }
  if (outcome.status === 'interrupted') return { type: 'attempt', ...base, outcome: 'interrupted' }
  if (outcome.status === 'failed' && retries && !outcome.fatal) {
    return { type: 'attempt', ...base, outcome: 'failed', failure: outcome.failure }
  }
  const isTop = scope.turn === undefined && scope.inside === undefined
  const record: StepRecord = {
    type: 'step',
    ...base,
    name,
    ...(isTop ? { topLevel: true } : {}),
    ...(inputDigest === undefined ? {} : { inputDigest }),
  }
  if (outcome.status === 'failed') return { ...record, failure: outcome.failure }
  return outcome.result === undefined ? record : { ...record, result: outcome.result }
}

/** Returns the result of a settled step, or throws its failure. */
function readSettled<T>({ failure, result }: StepRecord): T {
  if (failure !== undefined) throw revive(failure)
  return result as T
}

export function replayStep<T>(entry: Entry): { readonly value: T } | undefined {
  const record = recordOf(entry, 'step')
  return record && { value: readSettled<T>(record) }
}

/** Makes an error from a recorded failure. A live run throws this error too, so that a rebuilt run gets the same one. */
export function revive({ name, message, stack, code, details }: Failure): Error {
  const error = Object.assign(new Error(message), { name })
  if (stack !== undefined) error.stack = stack
  return Object.assign(
    error,
    code === undefined ? {} : { code },
    details === undefined ? {} : { details },
  )
}
