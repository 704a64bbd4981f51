/** How a task would go on with other code. */
import type { Clock } from '../../../ports/clock.ts'
import type { IdSource } from '../../../ports/ids.ts'
import type { Log } from '../../../ports/log.ts'

/** An operation of the code: its key in the journal, and its name for people. */
export interface ReplayedOperation {
  readonly key: string
  readonly name: string
}

/** The code calls `asked`, and the journal has `recorded` at this place or behind it. */
export interface CodeChange {
  readonly asked: ReplayedOperation
  readonly recorded: ReplayedOperation
}

export interface CodeReplay {
  /**
   * - `fits`: the task goes on.
   * - `stops`: the task stops as `code-changed`.
   * - `fails`: the code throws on what is recorded, so the task fails.
   * - `unclear`: the code cannot be followed to the end of what is recorded. It waits for something that is no operation of
   *   the task, or calls an operation whose result is not recorded before recorded ones, or a step with recorded operations
   *   inside it would run again.
   */
  readonly verdict: 'fits' | 'stops' | 'fails' | 'unclear'
  /** The calls at which the recorded past is used up. */
  readonly goesOnFrom: readonly ReplayedOperation[]
  /** Recorded operations that the code did not call up to there: removed, or behind what cannot be followed. */
  readonly notCalled: readonly ReplayedOperation[]
  /** For `stops`. An entry with twice the same operation: its question, conditions or kind are different. */
  readonly changes?: readonly CodeChange[]
  /** For `fails`: the message of the error. */
  readonly failure?: string
  /** The code comes to its end without a new operation. */
  readonly ends?: 'complete' | 'reject' | 'continue-as'
}

export interface CodeReplayDeps {
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
}
