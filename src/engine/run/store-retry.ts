/** Repeats what the code of a run needs from the store until the store answers. */
import { isLullError } from '../../core/errors.ts'
import type { RunCore } from './run-core.ts'
import { neverSettles } from './run-writer.ts'

/** Any error other than `STORE_UNAVAILABLE` is thrown. The promise never settles after the run was discarded. */
export type WhileStoreFails = <T>(act: () => Promise<T>) => Promise<T>

const RETRY_MS = 1_000

export function createStoreRetry(core: RunCore): WhileStoreFails {
  return async (act) => {
    for (;;) {
      try {
        return await act()
      } catch (error) {
        if (!isLullError(error, 'STORE_UNAVAILABLE')) throw error
        await new Promise<void>((resolve) => {
          core.host.clock.after(RETRY_MS, resolve)
        })
        if (core.dead) return neverSettles()
      }
    }
  }
}
