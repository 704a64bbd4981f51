/** Steps and tools: journaled side effects. A recorded step never runs again. A step without a record may run again. */

import { LullError } from '../../../core/errors.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { StepFunction, StepOptions } from '../../author/agent-task.ts'
import { stepOptionsInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { type AbortCode, Aborted } from '../abort-reason.ts'
import type { Handed } from '../operation.ts'
import type { RunCore } from '../run-core.ts'
import { settleStep, type UnsettledStep } from './settle-step.ts'
import { createStepExecutor } from './step-attempt.ts'
import type { CheckedStepOptions } from './step-options.ts'
import { recordedStep } from './step-record.ts'

const noOptions: CheckedStepOptions = {}

export interface Steps {
  run<T>(
    kind: 'step' | 'tool',
    name: string,
    code: StepFunction<T>,
    options?: StepOptions,
  ): Promise<T>
  /** Makes attempts of one step until one settles it. Its record is handed in then. */
  settle<T>(step: UnsettledStep<T>): Promise<Handed<T>>
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
  const settle = <T>(step: UnsettledStep<T>): Promise<Handed<T>> => settleStep(core, executor, step)

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
      replay: (entry) => recordedStep<T>(entry),
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
