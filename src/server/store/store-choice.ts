/**
 * Decides which store a process uses. On each level (flag or option, variable, configuration file)
 * a kind of store decides, or else the address of a database. Parts of the database's place that
 * one level omits are taken from the next one.
 */
import { LullError } from '../../core/errors.ts'
import type { PostgresStoreOptions } from '../../stores/postgres/postgres-store.ts'
import type { StoreConfig, StoreKind } from './open-store.ts'

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
