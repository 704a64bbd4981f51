/** In which order calls of the store take locks, seen from a transaction that holds some of them. */
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Store } from '../../../ports/store.ts'
import { creation, sampleBudget, sampleHold } from '../../../testing/sample-task.ts'
import { createPostgresStore } from '../postgres-store.ts'
import { databaseWith, dropSchema, execute, newSchema } from '../test-support/new-schema.ts'
import { inspectPostgres } from './inspect.ts'

async function open(
  url = inject('postgres'),
): Promise<{ store: Store; schema: string; other: pg.Client }> {
  const schema = newSchema()
  const store = await createPostgresStore({ url, schema })
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
    `INSERT INTO ${schema}.records (tenant, task_id, first, last, body) VALUES ('acme', '${id}', 1, 1, '[]')`
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
  const lock = (how: string, tenant = '') =>
    `SELECT pg_advisory_xact_lock${how}(${schema}.holds_lock_1('${tenant}'))`
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

it('lets a hold of one tenant wait for no commit of another, and stop none', async () => {
  const { store, schema, other } = await open()
  const lock = (how: string) =>
    `SELECT pg_advisory_xact_lock${how}(${schema}.holds_lock_1('other'))`
  await other.query('BEGIN')
  // As a commit of that tenant that is not on disk yet.
  await other.query(lock('_shared'))
  await store.putHold(sampleHold('hold-1', { scope: { tenant: 'acme' } }))
  await other.query('COMMIT')
  const epoch = (await store.cluster?.holdsInEffect())?.epoch ?? 0
  await other.query('BEGIN')
  // As a hold of that tenant.
  await other.query(lock(''))
  const written = await store.commit([creation('task-1', {}, { holdEpoch: epoch })])
  expect(written).toEqual([{ status: 'written' }])
  const theirs = store.commit([creation('task-2', { tenant: 'other' }, { holdEpoch: epoch })])
  await isWaitedFor(other)
  await other.query('COMMIT')
  expect(await theirs).toEqual([{ status: 'written' }])
})

const isolations = ['repeatable read', 'serializable'] as const

it.each(isolations)(
  'starts nothing under a hold where the database has %s as its default',
  async (level) => {
    const setting = `default_transaction_isolation=${level.replace(' ', '\\ ')}`
    const { store, schema, other } = await open(databaseWith(setting))
    const epoch = (await store.cluster?.holdsInEffect())?.epoch ?? 0
    await other.query('BEGIN')
    await other.query(`SELECT pg_advisory_xact_lock(${schema}.holds_lock_1('acme'))`)
    const committing = store.commit([creation('task-1', {}, { holdEpoch: epoch })])
    await isWaitedFor(other)
    await other.query(`UPDATE ${schema}.counters SET value = value + 1 WHERE name = 'holds'`)
    await other.query('COMMIT')
    expect(await committing).toEqual([{ status: 'outdated' }])
  },
)

it.each(isolations)(
  'refuses %s as the default through a pooler, and says what to do',
  async (level) => {
    const url = databaseWith(`default_transaction_isolation=${level.replace(' ', '\\ ')}`)
    const refusal = /ALTER ROLE .+ SET default_transaction_isolation = 'read committed'/
    const options = { url, direct: url, schema: newSchema() }
    onTestFinished(() => dropSchema(options.schema))
    await expect(createPostgresStore(options)).rejects.toThrow(refusal)
    await expect(inspectPostgres(options)).rejects.toThrow(refusal)
  },
)

describe('a lease', () => {
  async function withOwner(leaseMs: number) {
    const opened = await open()
    const { store, schema, other } = opened
    await store.cluster?.registerWorker({ id: 'w', agents: [] }, leaseMs)
    await store.commit([creation('task-1', { owner: 'w' })])
    await other.query('BEGIN')
    const hasRunOut = async (): Promise<boolean> => {
      const text = `SELECT lease_until <= ${schema}.clock_1() AS over FROM ${schema}.workers`
      return (await execute<{ over: boolean }>(text))[0]?.over === true
    }
    return { ...opened, hasRunOut }
  }

  it('that is being renewed is not over, however long that takes', async () => {
    const { store, schema, other } = await withOwner(0)
    // The statement of a heartbeat that was carried out in time and is not durable yet.
    await other.query(`UPDATE ${schema}.workers SET lease_until = lease_until + interval '1 h'`)
    expect(await store.orphans('', 9)).toEqual([])
    expect(await store.cluster?.workers()).toMatchObject([{ id: 'w', alive: true }])
    await other.query('COMMIT')
    expect(await store.orphans('', 9)).toEqual([])
    await execute(`UPDATE ${schema}.workers SET lease_until = lease_until - interval '1 h'`)
    expect(await store.cluster?.workers()).toMatchObject([{ id: 'w', alive: false }])
    expect(await store.orphans('', 9)).toEqual([{ taskId: 'task-1', tenant: 'acme', owner: 'w' }])
  })

  it('that ran out while its heartbeat waited for the row is not renewed', async () => {
    const { store, schema, other, hasRunOut } = await withOwner(2_000)
    // As one who finds that the lease has run out.
    await other.query(`SELECT FROM ${schema}.workers FOR UPDATE`)
    const renewing = store.cluster?.heartbeat('w', 60_000, null)
    await isWaitedFor(other)
    await expect.poll(hasRunOut).toBe(true)
    await other.query('COMMIT')
    expect(await renewing).toBeUndefined()
  })
})

it('does not bring back a policy whose removal is being written', async () => {
  const { store, schema, other } = await open()
  const budget = sampleBudget('budget-1')
  await store.putPolicy(budget, 0)
  await other.query('BEGIN')
  await other.query(`DELETE FROM ${schema}.policies`)
  const changing = store.putPolicy({ ...budget, version: 2 }, 1)
  await isWaitedFor(other)
  await other.query('COMMIT')
  expect(await changing).toBe(false)
  expect(await store.policies()).toEqual([])
})

it('does not remove an old session whose next use is being written', async () => {
  const { store, schema, other } = await open()
  const place = { tenant: 'acme', principal: 'ann', id: 'session-1' }
  await store.putSession({ ...place, cwd: '/', createdAt: 10, updatedAt: 10 })
  await other.query('BEGIN')
  await other.query(`UPDATE ${schema}.sessions SET updated_at = 1000`)
  const pruning = store.pruneSessions(500, 9)
  await isWaitedFor(other)
  await other.query('COMMIT')
  expect(await pruning).toEqual({ removed: 0 })
})
