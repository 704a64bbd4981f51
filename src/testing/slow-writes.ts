/**
 * Wraps a store that pauses before it writes a value, for tests of what other processes do
 * meanwhile.
 */
import type { Store } from '../ports/store.ts'

/** Runs `meanwhile` once, before the first value is written. */
export function slowToWrite(store: Store, meanwhile: () => Promise<unknown>): Store {
  let next: typeof meanwhile | undefined = meanwhile
  const pause = async (): Promise<void> => {
    const act = next
    next = undefined
    await act?.()
  }
  return {
    ...store,
    async setValue(...given) {
      await pause()
      return store.setValue(...given)
    },
    async replaceValue(...given) {
      await pause()
      return store.replaceValue(...given)
    },
  }
}
