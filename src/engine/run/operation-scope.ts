/** What an operation is in: a turn, a step, or neither. Follows the code of a run through its promises. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Execution } from './execution.ts'
import type { Scope } from './gate.ts'

export interface OperationScope extends Scope {
  /** The execution of the step whose function called it, if any. */
  readonly inside?: Execution | undefined
  /** Keys inside a step are counted apart, because a recorded step does not run its function again. */
  readonly prefix: string
  /** An earlier execution of the step it is in may have begun. */
  readonly mayHaveRun?: true
  /** Where the code stood when it asked for that step. */
  readonly place?: number
}

const top: OperationScope = { prefix: '' }
/** One for all runs: Node attaches every storage to every promise, and keeps it as long as the promise. */
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
