/** Opens the store a process was told to use. A further kind of store is one row of `kinds`; its code is loaded when used. */
import type { LullError } from '../core/errors.ts'
import type { Store } from '../ports/store.ts'

/** `sqlite`: one file in the data directory. `memory`: tasks end with the process. */
export type StoreKind = 'sqlite' | 'memory'

export interface StoreConfig {
  readonly kind: StoreKind
  /** The data directory. */
  readonly data: string
}

/** `lost` is called when the store has ended by itself and only a restart of the process helps. */
type Open = (
  config: StoreConfig,
  lost: (error: LullError<'STORE_UNAVAILABLE'>) => void,
) => Promise<Store>

const kinds: Readonly<Record<StoreKind, Open>> = {
  async sqlite({ data }, lost) {
    const { createSqliteStore } = await import('../stores/sqlite/sqlite-store.ts')
    return createSqliteStore({ path: data, lost })
  },
  async memory() {
    const { createMemoryStore } = await import('../stores/memory/memory-store.ts')
    return createMemoryStore()
  },
}

export const storeKinds: readonly StoreKind[] = ['sqlite', 'memory']

export const openStore: Open = (config, lost) => kinds[config.kind](config, lost)
