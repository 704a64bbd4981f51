/** Steps and tools: journaled side effects. At least once for the one that was running, never twice for a recorded one. */
import { describeError } from '../../core/describe-error.ts'
import { isLullError, LullError } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { Failure, JournalRecord } from '../../core/records.ts'
import { Fatal, Rejection } from '../agent.ts'
import type { Retry, StepContext, StepFunction, StepOptions } from '../agent-task.ts'
import { stepOptionsInput } from '../inputs.ts'
import { parse } from '../parse.ts'
import { checkedResult } from '../step-result.ts'
import { type AbortCode, Aborted } from './abort-reason.ts'
import type { Asked, Finished, OperationScope, RunCore } from './core.ts'
import { Execution } from './execution.ts'
import type { During } from './gate.ts'
import { recordedDuring } from './gated-record.ts'
import type { Entry } from './journal.ts'
import { never } from './line.ts'
import { AttemptStreams } from './step-streams.ts'

const FIRST_BACKOFF_MS = 200
const MOST_BACKOFF_MS = 60_000
const noOptions: StepOptions = {}

type StepRecord = JournalRecord & { readonly type: 'step' }
type AttemptRecord = JournalRecord & { readonly type: 'attempt' }

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
  const running = new Set<Execution>()

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
    const { key, name, scope, asked, during, options = {} } = step
    const { retry } = options
    let { made: attempt, failed: failures } = core.journal.attempts(key)
    for (;;) {
      const streams = new AttemptStreams(core, name, key)
      const attemptOnce = async (): Promise<StepRecord | AttemptRecord> => {
        // What the step may have seen (now, uuid, random) is durable before it acts on it.
        await core.flush()
        // Canceled or lost while it waited to be tried again: nothing of it happens any more.
        if (core.dead) return never()
        attempt++
        // A retry does everything anew; an interrupted step meets again what it has done.
        const prefix = failures === 0 ? `${key}/` : `${key}!${failures}/`
        const outcome = await execute<T>(step, prefix, {
          attempt,
          mayHaveRun: asked.mayHaveBegun || attempt > 1,
          streams,
        })
        if (outcome.status !== 'done') streams.end()
        refuseLate(scope)
        if (outcome.status !== 'interrupted') core.journal.forget(prefix)
        return recordOf(step, attempt, outcome, failures < (retry?.attempts ?? 0))
      }
      const { seq, record } = await recordedDuring(core, during, attemptOnce, () =>
        streams.recording(),
      ).finally(() => streams.end())
      if (record.type === 'step') return { seq, settle: () => settledValue<T>(record) }
      if (record.outcome === 'failed') {
        const waitMs = backoffMs(retry, failures++)
        await gate.whileWaiting(() => pause(waitMs))
      }
      giveUpInside(scope)
    }
  }

  /** A step inside a step that was told to stop does not begin again: the outer one is over, or will call it anew. */
  function giveUpInside({ inside }: OperationScope): void {
    inside?.signal.throwIfAborted()
  }

  /** A step inside a step that is over is not recorded: nobody waits for it. */
  function refuseLate({ inside }: OperationScope): void {
    if (inside?.over !== undefined) throw new Error(inside.over)
  }

  async function execute<T>(
    { key, name, code, scope, asked, options = {} }: StepAttempts<T>,
    prefix: string,
    facts: AttemptFacts,
  ): Promise<Outcome> {
    const { timeoutMs } = options
    const { mayHaveRun, streams } = facts
    const execution = new Execution({ host, taskId: core.taskId, step: name, outer: scope.inside })
    running.add(execution)
    const { id, journal } = core.task
    const makeKey = (): string => host.hash(`${id}/${journal.generation}/${key}`).slice(0, 32)
    const inner: OperationScope = {
      ...scope,
      inside: execution,
      prefix,
      place: asked.place,
      ...(mayHaveRun ? { mayHaveRun } : {}),
    }
    core.recount(prefix)
    core.journal.keep(prefix)
    let stopTimer: (() => void) | undefined
    let timedOut = false
    try {
      const startedAt = host.clock.now()
      const work = core.within(inner, async () => code(new Context(execution, makeKey, facts)))
      noticeLate(work, execution)
      const blockedMs = host.clock.now() - startedAt
      if (blockedMs >= host.limits.blockMs) host.blocked(core.task.agent, id, blockedMs)
      const value = await (timeoutMs === undefined
        ? work
        : Promise.race([
            work,
            new Promise<never>((_, fail) => {
              stopTimer = host.clock.after(timeoutMs, () => {
                const error = new LullError('STEP_TIMEOUT', { step: name, timeoutMs })
                timedOut = true
                fail(error)
                timeOut(execution, error)
              })
            }),
          ]))
      const { stepResultBytes } = host.limits
      return { status: 'done', result: checkedResult(name, value, stepResultBytes, streams.bytes) }
    } catch (error) {
      const fatal = isFatal(error)
      const { reason } = execution.signal
      const wasPaused = reason instanceof Aborted && reason.code === 'paused'
      // A step that timed out, or whose failure is final, did not end because of the pause.
      if (wasPaused && !fatal && !timedOut) return { status: 'interrupted' }
      return { status: 'failed', failure: describeError(error), fatal }
    } finally {
      stopTimer?.()
      running.delete(execution)
      execution.end('it has ended')
    }
  }

  /** The step and those inside it are over; their functions are told, and may ignore it. */
  function timeOut(execution: Execution, error: Error): void {
    for (const one of running) {
      if (one !== execution && !one.isInside(execution)) continue
      one.end(error.message)
      one.abort(error)
    }
  }

  function noticeLate(work: Promise<unknown>, execution: Execution): void {
    work.then(
      () => {
        if (execution.over !== undefined) execution.returnedLate()
      },
      () => undefined,
    )
  }

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      host.clock.after(ms, resolve)
    })

  return {
    run,
    settle,
    abort(code) {
      const reason = new Aborted(code)
      for (const execution of running) {
        // A paused step may go on: what it was doing is finished and recorded.
        if (code !== 'paused') execution.end(reason.message)
        execution.abort(reason)
      }
    },
  }
}

/** What the function of a step is told about this attempt. */
interface AttemptFacts extends Pick<StepContext, 'attempt' | 'mayHaveRun'> {
  readonly streams: AttemptStreams
}

/** The signal and the key are made when the step reads them: few do, and making one is not cheap. */
class Context implements StepContext {
  readonly #execution: Execution
  readonly #makeKey: () => string
  readonly attempt: number
  readonly mayHaveRun: boolean
  readonly #streams: AttemptStreams

  constructor(execution: Execution, makeKey: () => string, facts: AttemptFacts) {
    this.#execution = execution
    this.#makeKey = makeKey
    this.attempt = facts.attempt
    this.mayHaveRun = facts.mayHaveRun
    this.#streams = facts.streams
  }

  get idempotencyKey(): string {
    return this.#makeKey()
  }

  get stream(): StepContext['stream'] {
    return (name) => this.#streams.open(name)
  }

  get signal(): AbortSignal {
    return this.#execution.signal
  }
}

type Outcome =
  | { readonly status: 'done'; readonly result: Json | undefined }
  | { readonly status: 'interrupted' }
  | { readonly status: 'failed'; readonly failure: Failure; readonly fatal: boolean }

/** @throws LullError `INVALID_INPUT` for a name that is no text: it is part of the record */
export function checkName(name: unknown): void {
  if (typeof name === 'string') return
  throw new LullError('INVALID_INPUT', { path: 'name', problem: 'must be a text' })
}

/** What one attempt came to, as it is recorded: it settled the step, or the step is tried again. */
function recordOf<T>(
  { key, name, scope }: StepAttempts<T>,
  attempt: number,
  outcome: Outcome,
  triedAgain: boolean,
): StepRecord | AttemptRecord {
  const base = { key, attempt }
  if (outcome.status === 'interrupted') return { type: 'attempt', ...base, outcome: 'interrupted' }
  if (outcome.status === 'failed' && triedAgain && !outcome.fatal) {
    return { type: 'attempt', ...base, outcome: 'failed', failure: outcome.failure }
  }
  const isTop = scope.turn === undefined && scope.inside === undefined
  const record: StepRecord = { type: 'step', ...base, name, ...(isTop ? { topLevel: true } : {}) }
  if (outcome.status === 'failed') return { ...record, failure: outcome.failure }
  return outcome.result === undefined ? record : { ...record, result: outcome.result }
}

/** The result of a settled step, or its failure thrown. */
function settledValue<T>({ failure, result }: StepRecord): T {
  if (failure !== undefined) throw revive(failure)
  return result as T
}

export function recordedStep<T>(entry: Entry): { readonly value: T } | undefined {
  if (entry.kind !== 'record' || entry.record.type !== 'step') return undefined
  return { value: settledValue<T>(entry.record) }
}

/** Trying again would not help, or would repeat a side effect that has happened. */
function isFatal(error: unknown): boolean {
  try {
    if (error instanceof Fatal || error instanceof Rejection) return true
    return isLullError(error, 'STEP_RESULT') || describeError(error).name === 'Fatal'
  } catch {
    // A proxy may refuse to be looked at.
    return false
  }
}

function backoffMs(retry: Retry | undefined, failures: number): number {
  const {
    backoffMs: first = FIRST_BACKOFF_MS,
    factor = 2,
    maxBackoffMs = MOST_BACKOFF_MS,
  } = retry ?? {}
  return Math.min(first * factor ** failures, maxBackoffMs)
}

/** A recorded failure as it is thrown, the first time too: what a rebuilt run gets is what a live one got. */
export function revive({ name, message, stack, code, details }: Failure): Error {
  const error = Object.assign(new Error(message), { name })
  if (stack !== undefined) error.stack = stack
  return Object.assign(
    error,
    code === undefined ? {} : { code },
    details === undefined ? {} : { details },
  )
}
