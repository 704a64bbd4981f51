/** In which order calls of the store take locks, seen from a transaction that holds some of them. */
import pg from 'pg'
import { expect, inject, it, onTestFinished } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { creation, sampleHold } from '../../testing/sample-task.ts'
import { createPostgresStore } from './postgres-store.ts'
import { dropSchema, execute, newSchema } from './test-support/new-schema.ts'

async function open(): Promise<{ store: Store; schema: string; other: pg.Client }> {
  const schema = newSchema()
  const store = await createPostgresStore({ url: inject('postgres'), schema })
  const other = new pg.Client(inject('postgres'))
  await other.connect()
  onTestFinished(async () => {
    await other.end()
    await store.close()
    await dropSchema(schema)
  })
  return { store, schema, other }
}

/** Resolves when another connection waits for a lock of that one. */
async function isWaitedFor({ processID }: pg.Client & { processID?: number | null }) {
  const waiting = () =>
    execute('SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))', [processID])
  while ((await waiting()).length === 0) await new Promise(setImmediate)
}

it('writes a batch in the order of ids, so that two batches never wait for each other in a circle', async () => {
  const { store, schema, other } = await open()
  const insert = (id: string) =>
    `INSERT INTO ${schema}.records (task_id, first, last, body) VALUES ('${id}', 1, 1, '[]')`
  await other.query('BEGIN')
  await other.query(insert('task-b'))
  const committing = store.commit(['task-c', 'task-b', 'task-a'].map((id) => creation(id)))
  await isWaitedFor(other)
  // The call stands at task-b. It has written task-a, and not yet task-c.
  const timeout = "SET lock_timeout = '1s';"
  await expect(execute(`${timeout} ${insert('task-a')}`)).rejects.toMatchObject({ code: '55P03' })
  await execute(`${timeout} ${insert('task-c')}`)
  await other.query('ROLLBACK')
  const results = await committing
  expect(results.map(({ status }) => status)).toEqual(['conflict', 'written', 'written'])
})

it('lets a hold wait for commits that were decided on holds, and such commits wait for a hold', async () => {
  const { store, schema, other } = await open()
  const lock = (how: string) => `SELECT pg_advisory_xact_lock${how}(${schema}.holds_lock_1())`
  await other.query('BEGIN')
  await other.query(lock('_shared'))
  const holding = store.putHold(sampleHold('hold-1'))
  await isWaitedFor(other)
  await other.query('COMMIT')
  await holding

  const epoch = (await store.cluster?.holdsInEffect())?.epoch ?? 0
  await other.query('BEGIN')
  await other.query(lock(''))
  const committing = store.commit([creation('task-1', {}, { holdEpoch: epoch })])
  await isWaitedFor(other)
  await other.query(`UPDATE ${schema}.counters SET value = value + 1 WHERE name = 'holds'`)
  await other.query('COMMIT')
  expect(await committing).toEqual([{ status: 'outdated' }])
})
