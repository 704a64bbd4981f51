/** What a store does while its database is restarted, killed, cut off or gone: nothing acknowledged is lost, nothing is doubled. */
import { expect, it, onTestFinished } from 'vitest'
import type { Store } from '../../../ports/store.ts'
import { creation, step } from '../../../testing/sample-task.ts'
import { createPostgresStore } from '../postgres-store.ts'
import { execute } from '../test-support/new-schema.ts'
import { startProxy } from '../test-support/proxy.ts'
import { type PostgresServer, startPostgres } from '../test-support/server.ts'

async function startServer(): Promise<PostgresServer> {
  const server = await startPostgres()
  onTestFinished(server.remove)
  return server
}

async function openStore(url: string, waitMs = 30_000): Promise<Store> {
  const store = await createPostgresStore({ url, waitMs })
  onTestFinished(() => store.close())
  return store
}

/** Appends to tasks one commit after the other, until `enough`. `versions` has what each task has reached. */
async function append(store: Store, versions: Map<string, number>, enough: () => boolean) {
  await Promise.all(
    ids.map(async (id) => {
      await store.commit([creation(id)])
      versions.set(id, 2)
      while (!enough()) {
        const version = versions.get(id) ?? 0
        const [result] = await store.commit([step(id, version)])
        // Only this test writes, so another answer would mean that a commit was written twice or not at all.
        expect(result).toEqual({ status: 'written' })
        versions.set(id, version + 1)
      }
    }),
  )
}

/** Waits until every task has got further than now. */
async function progress(versions: ReadonlyMap<string, number>): Promise<void> {
  const before = new Map(versions)
  const isFurther = (id: string) => (versions.get(id) ?? 0) > (before.get(id) ?? 0)
  while (!ids.every(isFurther)) await new Promise(setImmediate)
}

async function expectComplete(store: Store, versions: ReadonlyMap<string, number>) {
  for (const [id, version] of versions) {
    const records = await store.records('acme', id, 0, version + 9)
    expect(records.map(({ seq }) => seq)).toEqual(
      Array.from({ length: version }, (_, index) => index + 1),
    )
  }
}

const ids = Array.from({ length: 6 }, (_, n) => `task-${n}`)

it('goes on where it was when PostgreSQL is restarted and killed under load', async () => {
  const server = await startServer()
  const store = await openStore(server.url)
  let done = false
  const versions = new Map<string, number>()
  const appending = append(store, versions, () => done)
  for (const how of ['fast', 'immediate', 'fast'] as const) {
    await progress(versions)
    await server.restart(how)
  }
  await progress(versions)
  done = true
  await appending
  await expectComplete(store, versions)
})

it('goes on where it was when connections are cut at random instants, also after a request', async () => {
  const server = await startServer()
  const proxy = await startProxy(server.url)
  const store = await openStore(proxy.url)
  let cuts = 0
  const versions = new Map<string, number>()
  const appending = append(store, versions, () => cuts === 12)
  for (; cuts < 12; cuts++) {
    if (cuts % 3 === 0) proxy.cutAll()
    else {
      const cut = proxy.cutAfter('commit_1')
      while (!cut.happened()) await new Promise(setImmediate)
    }
  }
  await appending
  await expectComplete(store, versions)
})

it('waits for a server that takes over, while the old one is read-only', async () => {
  const server = await startServer()
  const store = await openStore(server.url)
  await store.commit([creation('task-1')])
  const setReadOnly = (on: boolean) =>
    execute(
      `ALTER SYSTEM SET default_transaction_read_only = ${on ? 'on' : 'off'}`,
      [],
      `${server.url}?options=-c%20default_transaction_read_only%3Doff`,
    ).then(() => execute('SELECT pg_reload_conf()', [], server.url))
  await setReadOnly(true)
  const probe = await openStore(server.url, 0)
  while (
    await probe.check().then(
      () => true,
      () => false,
    )
  )
    await new Promise(setImmediate)
  const committing = store.commit([step('task-1', 2)])
  await setReadOnly(false)
  expect(await committing).toEqual([{ status: 'written' }])
})

it('answers STORE_UNAVAILABLE after a bounded time when the database is gone, and works when it is back', async () => {
  const server = await startServer()
  const store = await openStore(server.url, 300)
  await store.commit([creation('task-1')])
  await server.stop('fast')
  await expect(store.load('acme', 'task-1')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await expect(store.commit([step('task-1', 2)])).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  })
  await expect(store.check()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await server.start()
  expect(await store.commit([step('task-1', 2)])).toEqual([{ status: 'written' }])
  expect(await store.records('acme', 'task-1', 0, 9)).toHaveLength(3)
})

it('closes at once while the database is gone', async () => {
  const server = await startServer()
  const store = await createPostgresStore({ url: server.url })
  await server.stop('immediate')
  const waiting = store.load('acme', 'task-1')
  waiting.catch(() => undefined)
  await store.close()
  await expect(waiting).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
})
