import type { NewOperation } from '../../core/suspension.ts'

/** The run, as its operations see it. */
export interface RunControl {
  readonly token: string
  /** The run may have reached a boundary. */
  moved(): void
  /** The code has reacted to the last result. */
  reacted(): void
  /** The code calls another operation than the one that is recorded under the key. */
  mismatch(key: string): void
  /** The code calls these new operations, and does not call the recorded ones after them. */
  newOperations(operations: readonly NewOperation[]): void
  /** The code waits for a child whose log cannot be read. */
  childUnreadable(childId: string, why: string): void
  /** Fires when the run is dropped. */
  readonly signal: AbortSignal
  /** The run may only wait for children from now on, and then needs no slot. */
  mayWait(): void
  /** Another run has the task. */
  lost(): void
}
