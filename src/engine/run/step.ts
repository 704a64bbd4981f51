/** Steps and tools: journaled side effects. At least once for the one that was running, never twice for a recorded one. */
import { LullError } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { Failure, JournalRecord } from '../../core/records.ts'
import type { StepFunction, StepOptions } from '../agent-task.ts'
import type { Finished, OperationScope, RunCore } from './core.ts'
import type { Entry } from './journal.ts'

const FIRST_BACKOFF_MS = 200

export interface Steps {
  run<T>(
    kind: 'step' | 'tool',
    name: string,
    code: StepFunction<T>,
    options?: StepOptions,
  ): Promise<T>
  /** The attempts of one step, until it is settled and recorded. */
  settle<T>(step: StepAttempts<T>): Promise<Finished<T>>
  /** Offers the running steps to stop: a pause interrupts, or the run is given up. */
  interrupt(): void
}

export interface StepAttempts<T> {
  readonly key: string
  readonly name: string
  readonly code: StepFunction<T>
  readonly options?: StepOptions
  readonly scope: OperationScope
  /** How an attempt enters and leaves the gate. */
  readonly door: { enter(): Promise<void> | undefined; leave(): void }
}

/** The reason a step's signal fires with. */
class Interrupted extends Error {
  override readonly name = 'AbortError'
}

export function createSteps(core: RunCore): Steps {
  const { host, gate } = core
  const running = new Set<AbortController>()

  function run<T>(
    kind: 'step' | 'tool',
    name: string,
    code: StepFunction<T>,
    options: StepOptions = {},
  ): Promise<T> {
    const key = options.key === undefined ? core.key(kind, name) : `${kind}:${options.key}#key`
    const scope = core.scope()
    return core.perform({
      key,
      replay: (entry) => recordedStep<T>(name, entry),
      live: () =>
        settle({
          key,
          name,
          code,
          options,
          scope,
          door: { enter: () => gate.enter(scope), leave: gate.leave },
        }),
    })
  }

  async function settle<T>(step: StepAttempts<T>): Promise<Finished<T>> {
    const { key, name, code, scope, door, options = {} } = step
    const { retry, timeoutMs } = options
    const topLevel =
      scope.turn === undefined && scope.inside === undefined ? { topLevel: true as const } : {}
    let attempt = core.journal.attempts(key)
    let failures = 0
    for (;;) {
      await door.enter()
      // What the step may have seen (now, uuid, random) is durable before it acts on it.
      await core.flush()
      attempt++
      const outcome = await execute<T>(key, name, code, attempt, timeoutMs)
      const base = { key, attempt }
      if (outcome.status === 'interrupted') {
        await write({ type: 'attempt', ...base, outcome: 'interrupted' }, door.leave)
        continue
      }
      if (outcome.status === 'failed' && failures < (retry?.attempts ?? 0)) {
        const { failure } = outcome
        await write({ type: 'attempt', ...base, outcome: 'failed', failure }, door.leave)
        const over = gate.wait()
        await pause((retry?.backoffMs ?? FIRST_BACKOFF_MS) * 2 ** failures++)
        over()
        continue
      }
      const record = { type: 'step', ...base, name, ...topLevel } as const
      if (outcome.status === 'failed') {
        const { error, failure } = outcome
        return {
          seq: await write({ ...record, failure }, door.leave),
          settle: () => rethrow(error),
        }
      }
      const { result } = outcome
      const seq = await write(result === undefined ? record : { ...record, result }, door.leave)
      return { seq, settle: () => result as T }
    }
  }

  /** The record is handed in before the gate is left, so that a pause that waits for it shares its commit. */
  async function write(record: JournalRecord, leave: () => void): Promise<number> {
    const written = core.record(record)
    leave()
    const { records } = await written
    return records.find((one) => 'key' in one && one.key === record.key)?.seq ?? 0
  }

  async function execute<T>(
    key: string,
    name: string,
    code: StepFunction<T>,
    attempt: number,
    timeoutMs: number | undefined,
  ): Promise<Outcome> {
    const controller = new AbortController()
    running.add(controller)
    const { id, journal } = core.task()
    const idempotencyKey = `${id}/${journal.generation}/${key}`
    const inner: OperationScope = { ...core.scope(), inside: controller, prefix: `${key}/` }
    let timedOut: (() => void) | undefined
    try {
      const startedAt = host.clock.now()
      const work = core.within(inner, async () =>
        code({ signal: controller.signal, idempotencyKey, attempt }),
      )
      const blockedMs = host.clock.now() - startedAt
      if (blockedMs >= host.limits.blockMs) host.blocked(core.task().agent, id, blockedMs)
      const value = await (timeoutMs === undefined
        ? work
        : Promise.race([
            work,
            new Promise<never>((_, fail) => {
              timedOut = host.clock.after(timeoutMs, () => {
                const error = new LullError('STEP_TIMEOUT', { step: name, timeoutMs })
                fail(error)
                controller.abort(error)
              })
            }),
          ]))
      return { status: 'done', result: roundTrip(name, value, host.limits.stepResultBytes) }
    } catch (error) {
      if (controller.signal.reason instanceof Interrupted) return { status: 'interrupted' }
      return { status: 'failed', error, failure: failureOf(error) }
    } finally {
      timedOut?.()
      running.delete(controller)
    }
  }

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      host.clock.after(ms, resolve)
    })

  return {
    run,
    settle,
    interrupt() {
      for (const controller of running) controller.abort(new Interrupted('interrupted by a pause'))
    },
  }
}

type Outcome =
  | { readonly status: 'done'; readonly result: Json | undefined }
  | { readonly status: 'interrupted' }
  | { readonly status: 'failed'; readonly error: unknown; readonly failure: Failure }

export function recordedStep<T>(name: string, entry: Entry): { readonly value: T } | undefined {
  if (entry.kind !== 'record' || entry.record.type !== 'step') return undefined
  const { failure, result } = entry.record
  if (failure !== undefined) throw revive(name, failure)
  return { value: result as T }
}

/** What the agent gets is what a rebuilt run would get: the JSON round trip, also the first time. */
function roundTrip(step: string, value: unknown, limit: number): Json | undefined {
  if (value === undefined) return undefined
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    const problem = `its result is not JSON (${failureOf(error).message})`
    throw new LullError('STEP_RESULT', { step, problem })
  }
  if (text === undefined) {
    throw new LullError('STEP_RESULT', { step, problem: `a ${typeof value} is not JSON` })
  }
  if (text.length > limit) {
    const problem = `its result has ${text.length} characters, more than ${limit}; store it elsewhere and return where`
    throw new LullError('STEP_RESULT', { step, problem })
  }
  return JSON.parse(text) as Json
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const { name, message, stack } = error
  return { name, message, ...(stack === undefined ? {} : { stack }) }
}

function rethrow(error: unknown): never {
  throw error
}

/** A recorded failure, thrown again: same name, same message. */
function revive(step: string, { name, message }: Failure): Error {
  const error = new LullError('STEP_FAILED', { step, message })
  return name === 'LullError' ? error : Object.assign(new Error(message), { name })
}
