/**
 * A transaction of one tenant that stands still, with its backend stopped, stops no other tenant: none of their backends
 * waits for it, and their sends, parks, events and audit entries go on.
 */

import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { creation, sampleClaim, sampleEvent, sampleRow, step } from '../../testing/sample-task.ts'
import { createPostgresStore } from './postgres-store.ts'
import { type PostgresServer, startPostgres } from './test-support/server.ts'

let server: PostgresServer
let store: Store
let stalled: pg.Client
let pid = 0
beforeAll(async () => {
  server = await startPostgres()
  store = await createPostgresStore({ url: server.url })
  stalled = new pg.Client(server.url)
  // It is ended while it stands still.
  stalled.on('error', () => undefined)
  await stalled.connect()
  const { rows } = await stalled.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  pid = rows[0]?.pid ?? 0
})
afterAll(async () => {
  process.kill(pid, 'SIGCONT')
  await stalled.end()
  await store.close()
  await server.remove()
})

const MANY = 200

async function each(work: (n: number) => Promise<unknown>): Promise<void> {
  const tenants = 5
  await Promise.all(
    Array.from({ length: tenants }, async (_, tenant) => {
      for (let n = tenant; n < MANY; n += tenants) await work(n)
    }),
  )
}

it('lets all other tenants go on', { timeout: 60_000 }, async () => {
  const event = (id: string) => sampleEvent(id)
  await store.appendEvents('stalled', [event('0')], 1)
  const { epoch = 0 } = (await store.cluster?.holdsInEffect()) ?? {}
  await stalled.query(`BEGIN; SELECT FROM lull.event_positions WHERE tenant = 'stalled' FOR UPDATE`)
  process.kill(pid, 'SIGSTOP')

  // Eight emitters of the stalled tenant. With a connection for each, nothing else could be written.
  const waiting = Array.from({ length: 8 }, async (_, n) => {
    // Each in a turn of its own, so that they are not joined before the first one waits.
    for (let turn = 0; turn < n; turn++) await setImmediate()
    return store.appendEvents('stalled', [event(`${n + 1}`)], 1)
  })
  const observer = new pg.Client(server.url)
  await observer.connect()
  const blocked = async () => {
    const { rows } = await observer.query<{ query: string }>(
      'SELECT query FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))',
      [pid],
    )
    return rows
  }
  await expect.poll(blocked).toHaveLength(1)

  const tenantOf = (n: number): string => `tenant-${n % 5}`
  const written = [{ status: 'written' }]
  await each(async (n) => {
    const [tenant, id] = [tenantOf(n), `task-${n}`]
    const claim = sampleClaim(id, { tenant, key: id })
    const sent = creation(id, { tenant, owner: 'w' }, { claim, holdEpoch: epoch })
    expect(await store.commit([sent])).toEqual(written)
  })
  await each(async (n) => {
    const [tenant, id] = [tenantOf(n), `task-${n}`]
    const row = sampleRow(id, { tenant, state: 'paused-by-agent', waits: ['built'] })
    expect(await store.commit([step(id, 2, { row })])).toEqual(written)
  })
  await each((n) => store.appendEvents(tenantOf(n), [event(`event-${n}`)], 1))
  await each((n) =>
    store.appendAudit([
      { id: `entry-${n}`, at: n, tenant: tenantOf(n), action: 'task.pause', outcome: 'done' },
    ]),
  )
  expect(await store.audit({ tenant: tenantOf(0), limit: MANY })).toHaveLength(MANY / 5)
  // At most one connection waits, for the tenant that stands still: none while the server has just ended its statement.
  expect((await blocked()).length).toBeLessThan(2)

  process.kill(pid, 'SIGCONT')
  await stalled.query('ROLLBACK')
  await Promise.all(waiting)
  await observer.end()
})
