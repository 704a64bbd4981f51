/**
 * No call of the engine reads a large table as a whole, also on a new database, which has no statistics. Measured in pages,
 * because the plans of functions cannot be shown.
 */
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { creation, sampleRow, step } from '../../testing/sample-task.ts'
import { createPostgresStore } from './postgres-store.ts'
import { databaseWith, dropSchema, execute, newSchema } from './test-support/new-schema.ts'

const schema = newSchema()
const TASKS = 6_000
const BATCH = 100
/** Nine changed rows read some 430 pages, in PostgreSQL 14 some 630. Nine scans of the waits of a tenant would read 540 more. */
const MOST_PAGES = 800

/** Every task is ready, due, parked on an event and owned, so that every index is full. */
beforeAll(async () => {
  const store = await createPostgresStore({ url: databaseWith('synchronous_commit=off'), schema })
  await withoutVacuum()
  for (let from = 0; from < TASKS; from += BATCH) {
    const ids = Array.from({ length: BATCH }, (_, n) => `task-${from + n}`)
    const full = (id: string, at: number) =>
      creation(id, { owner: 'w', waits: ['tick', id], readyAt: at, dueAt: at, statusAt: at })
    await store.commit(ids.map((id, n) => full(id, from + n)))
  }
  await store.close()
})
afterAll(() => dropSchema(schema))

/** The server itself reads tables too, at a time of its own, to collect statistics and to remove old rows. */
async function withoutVacuum(): Promise<void> {
  const tables = await execute<{ name: string }>(
    'SELECT relname AS name FROM pg_class WHERE relkind = $1 AND relnamespace = $2::regnamespace',
    ['r', schema],
  )
  const alter = ({ name }: { name: string }) =>
    `ALTER TABLE ${schema}.${name} SET (autovacuum_enabled = false)`
  await execute(tables.map(alter).join(';'))
}

/** Pages of tables and indexes that were read by connections that have ended. */
async function pagesRead(table: string): Promise<number> {
  const [row] = await execute<{ pages: string }>(
    `SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) AS pages
     FROM pg_statio_user_tables WHERE schemaname = $1 AND relname LIKE $2`,
    [schema, table],
  )
  return Number(row?.pages)
}

/** A connection reports what it has read at the latest when it ends. */
async function ended(name: string): Promise<void> {
  const rows = () =>
    execute(
      'SELECT FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()',
      [name],
    )
  while ((await rows()).length > 0) await new Promise(setImmediate)
}

async function pagesOf(call: (store: Store) => Promise<unknown>, table = '%'): Promise<number> {
  const name = newSchema()
  const url = new URL(inject('postgres'))
  url.searchParams.set('application_name', name)
  const store = await createPostgresStore({ url: url.href, schema })
  const before = await pagesRead(table)
  await call(store)
  await store.close()
  await ended(name)
  return (await pagesRead(table)) - before
}

type Calls = readonly (readonly [string, (store: Store) => Promise<unknown>])[]

const calls: Calls = [
  ['ready', (store) => store.ready('travel', 9)],
  ['readyAgents', (store) => store.readyAgents()],
  ['due', (store) => store.due(5, 9)],
  ['nextDueAt', (store) => store.nextDueAt()],
  ['orphans', (store) => store.orphans('', 9)],
  ['waiting', (store) => store.waiting('acme', ['tick'], 'task-3', 9)],
  ['waitNames', (store) => store.waitNames('acme', 't', '', 9)],
  ['waitOwners', (store) => store.waitOwners('acme', ['tick'])],
  ['load', (store) => store.load('acme', 'task-7')],
  ['records', (store) => store.records('acme', 'task-7', 1, 9)],
  ['list of a principal', (store) => store.list({ tenant: 'acme', principal: 'ann', limit: 9 })],
  ['list of all', (store) => store.list({ limit: 9 })],
  ['list of a context', (store) => store.list({ contextId: 'context-of-task-7', limit: 9 })],
  ['openTasks', (store) => store.openTasks({ limit: 9 })],
  [
    'versions',
    (store) => store.cluster?.versions([{ tenant: 'acme', id: 'task-7' }]) ?? Promise.reject(),
  ],
  [
    'commit of changed rows',
    (store) =>
      store.commit(
        Array.from({ length: 9 }, (_, n) => {
          const id = `task-${5_000 + n}`
          return step(id, 2, { row: sampleRow(id, { waits: ['tick'] }) })
        }),
      ),
  ],
]

it.each(calls)('%s does not read a whole table', async (_, call) => {
  expect(await pagesOf(call)).toBeLessThan(MOST_PAGES)
})

const travelling = { tenant: 'acme', agent: 'travel', states: ['working'] } as const

const counts: Calls = [
  ['all', (store) => store.count({})],
  ['a state', (store) => store.count({ states: ['working'] })],
  ['an agent in a state', (store) => store.count(travelling)],
  ['a principal', (store) => store.count({ ...travelling, principal: 'ann' })],
]

it.each(counts)('a count of %s does not read the tasks', async (_, call) => {
  expect(await pagesOf(call, 'tasks')).toBe(0)
})
