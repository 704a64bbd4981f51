/** The waits of a run for its children. While a run only waits, it needs no slot. */
import type { RunCore } from './core.ts'

export interface ChildWaits {
  /** The run gives its slot back once it does nothing but wait. It goes on when it has a slot again. */
  withoutSlot<T>(childId: string, wait: () => Promise<T>): Promise<T>
  /** The same for the next record of a child. Only the end of a child loads a run again, so a run that watches stays in memory. */
  whileWatching<T>(childId: string, wait: () => Promise<T>): Promise<T>
  /** The children the run waits for, one for each call. */
  readonly awaited: () => readonly string[]
  readonly watching: () => boolean
}

export function createChildWaits(core: RunCore): ChildWaits {
  const awaited: string[] = []
  let watches = 0

  async function withoutSlot<T>(childId: string, wait: () => Promise<T>): Promise<T> {
    awaited.push(childId)
    core.control.waits()
    try {
      return await wait()
    } finally {
      awaited.splice(awaited.indexOf(childId), 1)
      await core.host.reacquireSlot(core.task.id)
    }
  }

  async function whileWatching<T>(childId: string, wait: () => Promise<T>): Promise<T> {
    watches++
    try {
      return await core.gate.whileWatching(() => withoutSlot(childId, wait))
    } finally {
      watches--
    }
  }

  return { withoutSlot, whileWatching, awaited: () => awaited, watching: () => watches > 0 }
}
