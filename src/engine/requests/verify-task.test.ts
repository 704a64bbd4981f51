/** Receipts of tasks in a database that was changed by hand. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Signer } from '../../core/receipts/receipt.ts'
import type { Store } from '../../ports/store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { loadDriver } from '../../stores/sqlite/files/driver.ts'
import { createSqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import { testSigner } from '../../testing/test-signer.ts'
import { alice, bob, createHarness, running } from '../test-support/engine-harness.ts'

const parks = running(async (task) => {
  for (;;) await task.park({ reason: 'x', onEvent: 'go' })
})

/** A task with two stops and a wake between them. */
async function stoppedTwice(store: Store) {
  const harness = await createHarness({ agents: [parks], store })
  const { id } = await harness.send('the message of the user')
  await harness.until(id, 'paused-by-agent')
  await harness.emit('go')
  await harness.engine.waitFor(alice, id, ({ receipts }) => receipts.count === 3)
  return { harness, id }
}

/** What a verification shows after the statements were run on the database of a stopped server. */
async function afterChange(...statements: readonly string[]) {
  const path = await mkdtemp(join(tmpdir(), 'lull-receipts-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const before = await createSqliteStore({ path })
  const { harness, id } = await stoppedTwice(before)
  await harness.engine.drain()
  await before.close()
  const db = (await loadDriver())(join(path, 'lull.db'))
  for (const sql of statements) expect(Number(db.prepare(sql).run().changes)).toBeGreaterThan(0)
  db.close()
  const after = await createSqliteStore({ path })
  onTestFinished(() => after.close())
  const again = await createHarness({ ...harness.given, store: after })
  const { faults } = await again.engine.verify(alice, id)
  return { again, id, problems: faults.map(({ problem }) => problem) }
}

it.each([
  ['memory', async () => createMemoryStore()],
  [
    'sqlite',
    async () => {
      const path = await mkdtemp(join(tmpdir(), 'lull-receipts-'))
      onTestFinished(() => rm(path, { recursive: true, force: true }))
      return createSqliteStore({ path })
    },
  ],
])('finds nothing wrong in a log as it was written (%s)', async (_, open) => {
  const store = await open()
  onTestFinished(() => store.close())
  const { harness, id } = await stoppedTwice(store)
  const { faults, receipts } = await harness.engine.verify(alice, id)
  expect(faults).toEqual([])
  expect(receipts.map(({ verdict }) => verdict)).toEqual(['genuine', 'genuine', 'genuine'])
  expect((await store.load('acme', id))?.anchor).toMatch(/^3 /)
})

/** A task with many receipts, and a signer that counts the signatures it checks. */
async function counted(stops: number) {
  let checked = 0
  const signer: Signer = {
    ...testSigner,
    verifyPublic(...args) {
      checked++
      return testSigner.verifyPublic(...args)
    },
  }
  const harness = await createHarness({ agents: [parks], signer })
  const { id } = await harness.send('x')
  for (let n = 0; n < stops; n++) {
    await harness.engine.waitFor(alice, id, ({ receipts }) => receipts.count === 2 * n + 1)
    await harness.emit('go')
  }
  await harness.engine.waitFor(alice, id, ({ receipts }) => receipts.count === 2 * stops + 1)
  return { harness, id, checked: () => checked }
}

it('VT1: gives other work its turn after every few receipts', async () => {
  const { harness, id, checked } = await counted(60)
  let isOver = false
  const verifying = harness.engine.verify(alice, id).finally(() => {
    isOver = true
  })
  let most = 0
  let before = checked()
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, checked() - before)
    before = checked()
  }
  expect((await verifying).faults).toEqual([])
  expect(checked()).toBe(121)
  expect(most).toBeLessThanOrEqual(16)
})

it('VT2: is checked once for all who ask, for ten seconds and while nothing is added', async () => {
  const { harness, id, checked } = await counted(1)
  const { engine, clock } = harness
  const all = await Promise.all(Array.from({ length: 8 }, () => engine.verify(alice, id)))
  expect(all.map(({ receipts }) => receipts.length)).toEqual(Array(8).fill(3))
  await engine.verify(alice, id)
  expect(checked()).toBe(3)
  await harness.emit('go')
  await engine.waitFor(alice, id, ({ receipts }) => receipts.count === 5)
  expect((await engine.verify(alice, id)).receipts.length).toBe(5)
  expect(checked()).toBe(8)
  clock.advance(10_000)
  await engine.verify(alice, id)
  expect(checked()).toBe(13)
  await expect(engine.verify(bob, id)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
})

const cut = 'DELETE FROM records WHERE pos > (SELECT max(pos) FROM records) - 2'
const stopped = "UPDATE tasks SET state = 'paused-by-agent', owner = NULL, ready_at = NULL"

it('finds that the end of a log was cut off together with its receipts', async () => {
  const { again, id, problems } = await afterChange(cut, stopped)
  expect(problems).toContainEqual(expect.stringContaining('the log was cut off'))
  // Nothing is written to it, so no later anchor hides the cut.
  await expect(again.tell(id, 'more')).rejects.toMatchObject({ code: 'TASK_UNREADABLE' })
})

it.each([
  ['removed', 'UPDATE tasks SET anchor = NULL', 'the anchor of the receipts is missing'],
  [
    'replaced',
    `UPDATE tasks SET anchor = '1' || substr(anchor, 2)`,
    'the signature of the anchor is wrong',
  ],
])('finds that the anchor was %s with the end', async (_, change, problem) => {
  const { again, id, problems } = await afterChange(cut, stopped, change)
  expect(problems).toContain(problem)
  await expect(again.tell(id, 'more')).rejects.toMatchObject({ code: 'TASK_UNREADABLE' })
})

it('finds a message that was changed', async () => {
  const change = "UPDATE records SET body = replace(body, 'of the user', 'of another user')"
  const { problems } = await afterChange(change)
  expect(problems).toContain('receipt disagrees with the messages or artifacts of the task')
})
