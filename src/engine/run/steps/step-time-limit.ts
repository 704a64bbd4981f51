/** Ends an attempt of a step when its time limit has passed. */
import { LullError } from '../../../core/errors.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Execution } from './execution.ts'

export interface LimitedStep {
  readonly name: string
  readonly timeoutMs: number | undefined
}

const unlimited = (): void => undefined

/**
 * The attempt fails with `STEP_TIMEOUT` when its time is over. Its function, and those of the steps inside it, are told to stop.
 * @param acting the executions of the run whose functions are in flight
 * @returns ends the limit
 */
export function startTimeLimit(
  clock: Clock,
  acting: ReadonlyMap<Execution, unknown>,
  { name: step, timeoutMs }: LimitedStep,
  execution: Execution,
): () => void {
  if (timeoutMs === undefined) return unlimited
  return clock.after(timeoutMs, () => {
    const error = new LullError('STEP_TIMEOUT', { step, timeoutMs })
    execution.fail(error)
    for (const one of acting.keys()) {
      if (one === execution || one.isInside(execution)) one.timeOut(error)
    }
  })
}
