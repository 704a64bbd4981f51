/** Ends an attempt of a step when its time limit has passed. */
import { LullError } from '../../core/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Execution } from './execution.ts'

/** @throws LullError `STEP_TIMEOUT` */
export type WithinTime = <T>(
  work: Promise<T>,
  step: { readonly name: string; readonly timeoutMs: number | undefined },
  execution: Execution,
) => Promise<T>

/** @param running the executions of the run that have not ended */
export function createStepTimeLimit(clock: Clock, running: ReadonlySet<Execution>): WithinTime {
  /** Ends the step and the steps inside it, and fires their signals. */
  function timeOut(execution: Execution, error: Error): void {
    for (const one of running) {
      if (one !== execution && !one.isInside(execution)) continue
      one.timeOut(error)
    }
  }

  return async (work, { name: step, timeoutMs }, execution) => {
    if (timeoutMs === undefined) return work
    let stopTimer: (() => void) | undefined
    const late = new Promise<never>((_, fail) => {
      stopTimer = clock.after(timeoutMs, () => {
        const error = new LullError('STEP_TIMEOUT', { step, timeoutMs })
        fail(error)
        timeOut(execution, error)
      })
    })
    try {
      return await Promise.race([work, late])
    } finally {
      stopTimer?.()
    }
  }
}
