/** Opens the store a process was told to use. A further kind of store is one row of `kinds`. */
import type { LullError } from '../core/errors.ts'
import type { Store } from '../ports/store.ts'
import { createMemoryStore } from '../stores/memory/memory-store.ts'
import { createSqliteStore } from '../stores/sqlite/sqlite-store.ts'

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
  sqlite: ({ data }, lost) => createSqliteStore({ path: data, lost }),
  memory: async () => createMemoryStore(),
}

export const storeKinds: readonly StoreKind[] = ['sqlite', 'memory']

export const openStore: Open = (config, lost) => kinds[config.kind](config, lost)
