/** Heartbeats on a real server: a late one costs the lease, and with it every run of the process. */
import pg from 'pg'
import { afterAll, expect, inject, it, onTestFinished } from 'vitest'
import type { ClusterStore } from '../../ports/store/cluster.ts'
import { createPostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
import { dropSchema, newSchema } from './test-support/new-schema.ts'
import { startProxy } from './test-support/proxy.ts'

const schema = newSchema()
const LEASE_MS = 15_000

afterAll(() => dropSchema(schema))

async function open(options: Partial<PostgresStoreOptions> = {}): Promise<ClusterStore> {
  const store = await createPostgresStore({ url: inject('postgres'), schema, ...options })
  onTestFinished(() => store.close())
  if (store.cluster === undefined) throw new Error('the store is not shared')
  return store.cluster
}

it('renews a lease while every duty and every removal of a worker waits', async () => {
  const cluster = await open()
  await cluster.registerWorker({ id: 'busy', agents: [] }, LEASE_MS)
  const other = new pg.Client(inject('postgres'))
  await other.connect()
  onTestFinished(() => other.end())
  await other.query(`BEGIN; LOCK TABLE ${schema}.duties IN EXCLUSIVE MODE`)
  let taken = 0
  const take = async (n: number): Promise<void> => {
    await cluster.takeDuty(`duty ${n}`, 'busy', LEASE_MS)
    taken++
  }
  const waiting = Array.from({ length: 20 }, (_, n) => take(n))
  const removing = cluster.removeWorker('another')
  expect(await cluster.heartbeat('busy', LEASE_MS, null)).toBeDefined()
  expect(taken).toBe(0)
  await other.query('COMMIT')
  await Promise.all([...waiting, removing])
})

it('renews a lease in time when the connection of its heartbeats is lost without a word', async () => {
  const proxy = await startProxy(inject('postgres'))
  const cluster = await open({ direct: proxy.url })
  await cluster.registerWorker({ id: 'silent', agents: [] }, LEASE_MS)
  await cluster.heartbeat('silent', LEASE_MS, null)
  const lost = proxy.loseFrom('"next"')
  const began = performance.now()
  expect(await cluster.heartbeat('silent', LEASE_MS, 'next')).toBeDefined()
  expect(lost.happened()).toBe(true)
  expect(performance.now() - began).toBeLessThan(LEASE_MS / 2)
})
