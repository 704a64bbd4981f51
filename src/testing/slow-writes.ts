/** A store that stands still before it writes a value. For tests of what other processes do meanwhile. */
import type { Store } from '../ports/store.ts'

/** Does something once, before the first value is written. */
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
