/** Tasks that move from one engine to another as an export. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkReceipts } from '../../../core/receipts/check-receipts.ts'
import type { PublicKey } from '../../../core/receipts/receipt.ts'
import { checkExport, type TaskExport } from '../../../core/receipts/task-export.ts'
import type { RecordBody } from '../../../core/records.ts'
import type { Store } from '../../../ports/store.ts'
import { createPublicVerifier, createSigner } from '../../../server/system/signer.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createSqliteStore } from '../../../stores/sqlite/sqlite-store.ts'
import { alice, createHarness, type Harness, running } from '../../test-support/engine-harness.ts'
import { forged, forger } from '../../test-support/forged-export.ts'
import { receiptReport } from '../verify-task.ts'

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
  expect((await verdicts(third, id)).shown.map(([, , verdict]) => verdict)).toEqual([
    'vouched',
    'genuine',
  ])
  await third.emit('go')
  await third.engine.lift(operator, holdId)
  expect((await third.until(id, 'completed')).state).toBe('completed')
  await third.settled()
  third.crash()
})

const verdicts = async ({ engine }: Harness, id: string) => {
  const { faults, receipts } = await engine.verify(alice, id)
  const shown = receipts.map(({ receipt, verdict }) => [receipt.kind, receipt.keyId, verdict])
  return { shown, isVerified: faults.length === 0 }
}

describe('the receipts of an imported task', () => {
  it('are vouched for by the import, and not verified, also for an outsider with the published keys', async () => {
    const { second, id, file } = await exported()
    await second.engine.importTask(operator, file)
    const { shown, isVerified } = await verdicts(second, id)
    expect(isVerified).toBe(false)
    expect(shown).toEqual([
      ['SuspensionReceipt', here.keyId, 'vouched'],
      ['ImportReceipt', there.keyId, 'genuine'],
    ])
    const { receipts, faults } = await second.engine.verify(alice, id)
    expect(receipts[0]?.vouchedBy).toEqual({ keyId: there.keyId, at: second.clock.now() })
    expect(receipts[0]?.verifiedBy).toEqual([])
    expect(faults).toMatchObject([{ seq: 4, unknownKey: here.keyId }])
    expect(faults[0]?.problem).toContain(`vouched for by the import of key ${there.keyId} at 20`)
    const again = await second.engine.exportTask(operator, { taskId: id })
    const outsider = checkExport(again, createPublicVerifier(there.publicKeys))
    expect(outsider.receipts.map(({ verdict }) => verdict)).toEqual(['vouched', 'genuine'])
    expect(outsider.faults).toHaveLength(1)
    const both = createPublicVerifier([...there.publicKeys, ...here.publicKeys])
    expect(checkExport(again, both).faults).toEqual([])
  })

  it('are verified where their key is configured as trusted', async () => {
    const { first, id, file } = await exported()
    const trusting = createSigner(Buffer.from('the key of the third server'), [], here.publicKeys)
    const third = await createHarness({ agents: [parks], signer: trusting })
    await third.engine.importTask(operator, file)
    expect((await verdicts(third, id)).isVerified).toBe(true)
    expect(third.engine.receiptKeys).toEqual(trusting.publicKeys)
    expect(trusting.publicKeys).toHaveLength(1)
    first.crash()
  })

  it('are vouched for by each import on their way, and by none that is not genuine', async () => {
    const { second, id, file } = await exported()
    await second.engine.importTask(operator, file)
    const moved = await second.engine.exportTask(operator, { taskId: id })
    const last = createSigner(Buffer.from('the key of the third server'))
    const third = await createHarness({ agents: [parks], signer: last })
    await third.engine.importTask(operator, JSON.parse(JSON.stringify(moved)))
    const { shown } = await verdicts(third, id)
    expect(shown.map(([, keyId, verdict]) => [keyId, verdict])).toEqual([
      [here.keyId, 'vouched'],
      [there.keyId, 'vouched'],
      [last.keyId, 'genuine'],
    ])
    // The receipt of another import, put behind a record that names a key of one's own.
    const forged = moved.records.map((record) =>
      record.type === 'imported' ? { ...record, keys: forger.publicKeys } : record,
    )
    const outside = createPublicVerifier(there.publicKeys)
    const { receipts } = checkReceipts(forged, outside)
    expect(receipts.map(({ verdict }) => verdict)).toEqual(['unknown-key', 'wrong'])
    const noKey = moved.records.map((record) =>
      record.type === 'imported' ? { ...record, keys: [{ kid: 'x' } as PublicKey] } : record,
    )
    expect(checkReceipts(noKey, outside).receipts[0]?.verdict).toBe('unknown-key')
  })

  it('of a log that somebody made with a key of his own are never verified', async () => {
    const second = await createHarness({ agents: [parks], signer: there })
    const parked: RecordBody = {
      type: 'parked',
      fingerprint: 'f',
      suspension: {
        handle: 'suspend-1',
        epoch: 1,
        initiator: 'agent',
        actor: { kind: 'agent', id: 'worker' },
        requestedAt: 1_000,
        pausedAt: 1_000,
        pausedFrom: 'working',
        eventsAfter: 0,
      },
    }
    const file = forged({ taskId: 'forged', tenant: alice.tenant, agent: 'worker' }, [parked])
    await second.engine.importTask(operator, file)
    const report = receiptReport(await second.engine.verify(alice, 'forged'))
    expect(report.verified).toBe(false)
    expect(report.receipts.map(({ keyId, verdict }) => [keyId, verdict])).toEqual([
      [forger.keyId, 'vouched'],
      [there.keyId, 'genuine'],
    ])
  })
})

it('a task is started at once where that is asked', async () => {
  const { second, id, file } = await exported()
  await second.engine.importTask(operator, { ...file, start: true })
  await second.emit('go')
  await second.until(id, 'completed')
  const unverified = (await second.engine.verify(alice, id)).faults
  expect(unverified.map(({ unknownKey }) => unknownKey)).toEqual([here.keyId])
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
