/**
 * Opens the configured store. A new kind of store is one more row of `kinds`; its code is loaded on
 * use.
 */

import { LullError } from '../../core/errors.ts'
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

/** The place of tasks in PostgreSQL. */
export type PostgresConfig = Pick<PostgresStoreOptions, 'url' | 'schema' | 'direct'>

/** What one level specifies. A string is the address of a database. */
export interface StoreWish {
  readonly store?: StoreKind | undefined
  readonly postgres?:
    | string
    | { readonly [K in keyof PostgresConfig]?: string | undefined }
    | undefined
}

/**
 * Decides which store a process uses. On each level (flag or option, variable, configuration file)
 * a kind of store decides, or else the address of a database. Parts of the database's place that
 * one level omits are taken from the next one.
 *
 * @param wishes ordered by precedence, the highest first
 * @throws LullError `INVALID_INPUT` if the address of a database is missing
 */
export function chooseStore(wishes: readonly StoreWish[], data: string): StoreConfig {
  const places = wishes.map(placeIn)
  const part = (name: keyof PostgresConfig): string | undefined =>
    places.map((place) => place[name]).find((text) => text !== undefined)
  const kinds = wishes.map(
    ({ store }, level) => store ?? (places[level]?.url === undefined ? undefined : 'postgres'),
  )
  const kind = kinds.find((one) => one !== undefined) ?? 'sqlite'
  if (kind !== 'postgres') return { kind, data }
  const url = part('url')
  if (url !== undefined) {
    return { kind, data, postgres: { url, schema: part('schema'), direct: part('direct') } }
  }
  const problem = 'needs the address of the database; give --postgres, or set LULL_POSTGRES'
  throw new LullError('INVALID_INPUT', { path: 'store "postgres"', problem })
}

function placeIn({ postgres = {} }: StoreWish): Exclude<StoreWish['postgres'], string | undefined> {
  return typeof postgres === 'string' ? { url: postgres } : postgres
}

/** The place of the tasks for people to read, without the password of a database. */
export function placeOf({ data, postgres }: StoreConfig): string {
  if (postgres === undefined) return data
  if (!URL.canParse(postgres.url)) return 'PostgreSQL'
  const { host, pathname } = new URL(postgres.url)
  return `PostgreSQL at ${host}${pathname}`
}
