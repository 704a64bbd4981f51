/** Tasks that move from one engine to another as an export. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { TaskExport } from '../core/task-export.ts'
import type { Store } from '../ports/store.ts'
import { createPublicVerifier, createSigner } from '../server/system/signer.ts'
import { createMemoryStore } from '../stores/memory/memory-store.ts'
import { createSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { alice, createHarness, running } from './test-support/engine-harness.ts'

const operator = { ...alice, operator: true }
const parks = running(async (task) => {
  const { event } = await task.park({ reason: 'x', onEvent: 'go' })
  return event?.type
})

const here = createSigner(Buffer.from('the key of the first server'))
const there = createSigner(Buffer.from('the key of the second server'))

/** A parked task of one engine as JSON, and another engine. */
async function exported(store: Store = createMemoryStore()) {
  const first = await createHarness({ agents: [parks], store: createMemoryStore(), signer: here })
  const second = await createHarness({ agents: [parks], store, signer: there })
  await second.emit('other')
  const { id } = await first.send('the message of the user')
  await first.until(id, 'paused-by-agent')
  const made = await first.engine.exportTask(operator, { taskId: id })
  const file = JSON.parse(JSON.stringify(made)) as TaskExport
  return { first, second, id, file }
}

it('an imported task is held, and goes on when the hold is lifted', async () => {
  const { second, id, file } = await exported()
  const { holdId = '', state } = await second.engine.importTask(operator, file)
  expect(state).toBe('paused-by-agent')
  await second.emit('go')
  const held = await second.engine.waitFor(alice, id, ({ deferred }) => deferred !== undefined)
  expect(held).toMatchObject({ state: 'paused-by-agent', holds: [holdId] })
  await second.engine.lift(operator, holdId)
  await second.until(id, 'completed')
})

it('is on SQLite what it was, across a restart, and goes on there', async () => {
  const path = mkdtempSync(join(tmpdir(), 'lull-import-'))
  const open = (): Promise<Store> => createSqliteStore({ path })
  const stores = [await open()]
  onTestFinished(async () => {
    for (const store of stores) await store.close()
    rmSync(path, { recursive: true })
  })
  const { second, id, file } = await exported(stores[0])
  const { holdId = '' } = await second.engine.importTask(operator, file)
  const before = await second.get(id)
  second.crash()
  await stores[0]?.close()
  stores[0] = await open()
  const third = await createHarness({ agents: [parks], store: stores[0], signer: there })
  expect(await third.get(id)).toEqual(before)
  expect((await third.engine.verify(alice, id)).faults).toEqual([])
  await third.emit('go')
  await third.engine.lift(operator, holdId)
  expect((await third.until(id, 'completed')).state).toBe('completed')
  await third.settled()
  third.crash()
})

it('its receipts say that it was imported, and verify with the keys of both servers', async () => {
  const { second, id, file } = await exported()
  await second.engine.importTask(operator, file)
  const { faults, receipts } = await second.engine.verify(alice, id)
  expect(faults).toEqual([])
  expect(receipts.map(({ receipt: { kind, keyId }, verdict }) => [kind, keyId, verdict])).toEqual([
    ['SuspensionReceipt', here.keyId, 'genuine'],
    ['ImportReceipt', there.keyId, 'genuine'],
  ])
  // An outsider of the second server believes the first one only because the second one has signed its keys.
  const again = await second.engine.exportTask(operator, { taskId: id })
  const outsider = createPublicVerifier(there.publicKeys)
  const { checkExport } = await import('../core/task-export.ts')
  expect(checkExport(again, outsider).faults).toEqual([])
})

it('a task is started at once where that is asked', async () => {
  const { second, id, file } = await exported()
  await second.engine.importTask(operator, { ...file, start: true })
  await second.emit('go')
  await second.until(id, 'completed')
  expect((await second.engine.verify(alice, id)).faults).toEqual([])
})

it('a task that has ended is imported as it was', async () => {
  const { first, second, id } = await exported()
  await first.emit('go')
  await first.until(id, 'completed')
  const ended = await first.engine.exportTask(operator, { taskId: id })
  expect(await second.engine.importTask(operator, ended)).toMatchObject({ state: 'completed' })
  const { faults } = await second.engine.verify(alice, id)
  expect(faults.map(({ unknownKey }) => unknownKey)).toEqual([here.keyId, here.keyId])
})

it('refuses a file that was changed, redacted, or whose task exists, and writes nothing', async () => {
  const { first, second, id, file } = await exported()
  const changed = JSON.parse(
    JSON.stringify(file).replace('of the user', 'of another'),
  ) as TaskExport
  const redacted = await first.engine.exportTask(operator, { taskId: id, redacted: true })
  for (const [request, problem] of [
    [changed, 'not genuine'],
    [{ ...file, records: file.records.slice(0, -1) }, 'not genuine'],
    [redacted, 'redacted'],
  ] as const) {
    await expect(second.engine.importTask(operator, request)).rejects.toThrow(problem)
  }
  await expect(second.engine.importTask(alice, file)).rejects.toMatchObject({ code: 'NOT_OFFERED' })
  await expect(second.engine.get(alice, id)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
  await expect(first.engine.importTask(operator, file)).rejects.toThrow('exists here already')
  expect(await second.engine.holds(operator)).toEqual([])
})
