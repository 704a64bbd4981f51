/**
 * Opens the configured store. A new kind of store is one more row of `kinds`; its code is loaded on
 * use.
 */
import type { LullError } from '../../core/errors.ts'
import type { Store } from '../../ports/store.ts'
import type { PostgresStoreOptions } from '../../stores/postgres/postgres-store.ts'

/** `sqlite`: one file in the data directory. `postgres`: a database for many processes. `memory`: tasks end with the process. */
export type StoreKind = 'sqlite' | 'postgres' | 'memory'

export interface StoreConfig {
  readonly kind: StoreKind
  /** The data directory. */
  readonly data: string
  /** The database. Present if the kind is `postgres`. */
  readonly postgres?: PostgresStoreOptions
}

/**
 * `lost` is called when the store has failed permanently and only a restart of the process helps.
 */
type Open = (
  config: StoreConfig,
  lost: (error: LullError<'STORE_UNAVAILABLE'>) => void,
) => Promise<Store>

const kinds: Readonly<Record<StoreKind, Open>> = {
  async sqlite({ data }, lost) {
    const { createSqliteStore } = await import('../../stores/sqlite/sqlite-store.ts')
    return createSqliteStore({ path: data, lost })
  },
  async postgres({ postgres = { url: '' } }) {
    const { createPostgresStore } = await import('../../stores/postgres/postgres-store.ts')
    return createPostgresStore(postgres)
  },
  async memory() {
    const { createMemoryStore } = await import('../../stores/memory/memory-store.ts')
    return createMemoryStore()
  },
}

/** Opens a store for a read-only program. Its schema is not migrated. */
const readers: Readonly<Record<StoreKind, (config: StoreConfig) => Promise<Store>>> = {
  async sqlite({ data }) {
    const { openSqliteReader } = await import('../../stores/sqlite/sqlite-store.ts')
    return openSqliteReader(data)
  },
  async postgres({ postgres = { url: '' } }) {
    const { openPostgresReader } = await import('../../stores/postgres/postgres-store.ts')
    return openPostgresReader(postgres)
  },
  memory: (config) => kinds.memory(config, () => undefined),
}

export const storeKinds: readonly StoreKind[] = ['sqlite', 'postgres', 'memory']

export const openStore: Open = (config, lost) => kinds[config.kind](config, lost)

/** @throws LullError `STORE_UNAVAILABLE`, also when the schema is older than this version */
export const openReader = (config: StoreConfig): Promise<Store> => readers[config.kind](config)
