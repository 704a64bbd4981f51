/** The turn or step in which an operation is called. It follows the code of a run through its promises. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Scope } from './gate.ts'
import type { Execution } from './steps/execution.ts'

export interface OperationScope extends Scope {
  /** The execution of the step whose function called it, if any. */
  readonly inside?: Execution | undefined
  /**
   * The prefix of keys inside a step. They are counted per step, because a recorded step does not run its function
   * again.
   */
  readonly prefix: string
  /** Whether an earlier execution of the step may have begun. */
  readonly mayHaveRun?: true
  /** The place of the code when it called the step. */
  readonly place?: number
}

const top: OperationScope = { prefix: '' }
/** One storage for all runs, because Node attaches every storage to every promise. */
const scopes = new AsyncLocalStorage<{ readonly run: object; readonly scope: OperationScope }>()

/** The scope that code of this run is in. A run that was started by a step of another run is not inside that step. */
export function scopeOf(run: object): OperationScope {
  const current = scopes.getStore()
  return current?.run === run ? current.scope : top
}

/** Runs code so that the operations it calls know their scope. */
export function within<T>(run: object, scope: OperationScope, code: () => T): T {
  return scopes.run({ run, scope }, code)
}
