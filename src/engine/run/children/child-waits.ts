/** The waits of a run for its children. While a run only waits, it needs no slot: `run-slot.ts`. */
import type { OperationScope } from '../operation.ts'
import type { RunCore } from '../run-core.ts'

export interface ChildWaits {
  /**
   * Waits for a child. Frees the slot if the run does nothing else, and takes a slot again before the code continues.
   * @param wait ends when the signal fires
   * @throws the reason of the signal of the surrounding step, when that step must stop
   */
  withoutSlot<T>(
    childId: string,
    scope: OperationScope,
    wait: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  /**
   * The same for the next record of a child. Only the end of a child loads a run again, so a run that watches stays in
   * memory.
   */
  whileWatching<T>(childId: string, scope: OperationScope, wait: () => Promise<T>): Promise<T>
  /** Fires when the run is discarded, or when the step of that scope must stop. */
  signalOf(scope: OperationScope): AbortSignal
  /** The children the run waits for, one for each call. */
  readonly awaited: () => readonly string[]
  readonly watching: () => boolean
}

export function createChildWaits(core: RunCore): ChildWaits {
  const awaited: string[] = []
  let watches = 0

  function signalOf({ inside }: OperationScope): AbortSignal {
    const { signal } = core
    return inside === undefined ? signal : AbortSignal.any([signal, inside.signal])
  }

  /** A step that must stop ends without a slot, because the child may keep the only slot for long. */
  async function goOn(inside: OperationScope['inside']): Promise<void> {
    inside?.signal.throwIfAborted()
    await core.slot.take()
  }

  async function withoutSlot<T>(
    childId: string,
    scope: OperationScope,
    wait: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { inside } = scope
    const waiting = (): Promise<T> => wait(signalOf(scope))
    awaited.push(childId)
    core.run.mayWait()
    try {
      return await (inside === undefined ? waiting() : inside.whileWaiting(waiting))
    } finally {
      awaited.splice(awaited.indexOf(childId), 1)
      if (!core.dead) await goOn(inside)
    }
  }

  async function whileWatching<T>(
    childId: string,
    scope: OperationScope,
    wait: () => Promise<T>,
  ): Promise<T> {
    watches++
    try {
      return await core.gate.whileWaiting(() => withoutSlot(childId, scope, wait))
    } finally {
      watches--
    }
  }

  return {
    withoutSlot,
    whileWatching,
    signalOf,
    awaited: () => awaited,
    watching: () => watches > 0,
  }
}
