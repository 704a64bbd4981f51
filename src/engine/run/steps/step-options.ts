import type { InMs } from '../../../core/values/duration.ts'
import type { Retry, StepOptions } from '../../author/agent-task.ts'

/** The options of a step after the check. Durations are numbers. */
export interface CheckedStepOptions extends Omit<InMs<StepOptions>, 'retry'> {
  readonly retry?: InMs<Retry>
}
