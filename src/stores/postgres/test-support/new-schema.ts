/** Schemas of the tests' own. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, inject } from 'vitest'
import type { Store } from '../../../ports/store.ts'
import type { MakeStore } from '../../../testing/store-contract.ts'
import { createPostgresStore, type PostgresStoreOptions } from '../postgres-store.ts'

/** A name that no other test has. */
export function newSchema(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

/** Runs statements as the owner of the database. */
export async function execute<R extends pg.QueryResultRow>(
  text: string,
  values: readonly unknown[] = [],
  url: string = inject('postgres'),
): Promise<readonly R[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<R>(text, [...values])).rows
  } finally {
    await client.end()
  }
}

export async function dropSchema(schema: string): Promise<void> {
  await execute(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${schema} CASCADE`)
}

/**
 * Makes stores for the tests of a file, which use one schema after the other. Making a schema takes longer than a test.
 * @param prepare makes the schema otherwise than the store does
 */
export function storeMaker(
  options: Partial<PostgresStoreOptions> = {},
  prepare: (schema: string) => Promise<void> = async () => undefined,
): MakeStore {
  const schema = newSchema()
  let prepared: Promise<void> | undefined
  const open = (): Promise<Store> =>
    createPostgresStore({ url: inject('postgres'), schema, ...options })
  afterAll(() => dropSchema(schema))
  return async () => {
    prepared ??= prepare(schema)
    await prepared
    let store = await open()
    const others: Store[] = []
    await setClock(schema, 0)
    let passed = 0
    return {
      store,
      async reopen() {
        await store.close()
        store = await open()
        return store
      },
      async cleanup() {
        await Promise.all([store, ...others].map((one) => one.close()))
        await empty(schema)
      },
      cluster: {
        async connect() {
          const other = await open()
          others.push(other)
          return other
        },
        async pass(ms) {
          passed += ms
          await setClock(schema, passed)
        },
      },
    }
  }
}

/** The database of the tests, with settings for every connection. */
export function databaseWith(setting: string): string {
  const url = new URL(inject('postgres'))
  url.searchParams.set('options', `-c ${setting}`)
  return url.href
}

/** Puts the clock of the store ahead. */
async function setClock(schema: string, ms: number): Promise<void> {
  await execute(
    `SET synchronous_commit = off;
     CREATE OR REPLACE FUNCTION ${schema}.clock_1() RETURNS timestamptz LANGUAGE sql VOLATILE AS
     $$ SELECT clock_timestamp() + ${ms} * interval '1 ms' $$`,
  )
}

/** Deletes all rows. */
async function empty(schema: string): Promise<void> {
  const tables = await execute<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = $1::regnamespace`,
    [schema],
  )
  const filled = tables.filter(({ name }) => name !== 'schema' && name !== 'counters')
  const deletions = filled.map(({ name }) => `DELETE FROM ${schema}.${name};`)
  await execute(`${deletions.join(' ')} UPDATE ${schema}.counters SET value = 0`)
}
