/** An exported task of another server, on PostgreSQL. */
import { expect, inject, it, onTestFinished } from 'vitest'
import { alice, createHarness, running } from '../../engine/test-support/engine-harness.ts'
import { createCountingIds } from '../../testing/counting-ids.ts'
import { createMemoryStore } from '../memory/memory-store.ts'
import { createPostgresStore } from './postgres-store.ts'
import { dropSchema, newSchema } from './test-support/new-schema.ts'

const operator = { ...alice, operator: true }
const root = { tenant: '*', principal: 'root', operator: true }
const parks = running(async (task) => {
  await task.park({ reason: 'x', onEvent: 'go' })
  return 'done'
})

it('is imported as it was, verifies, and goes on when its hold is lifted', async () => {
  const schema = newSchema()
  const store = await createPostgresStore({ url: inject('postgres'), schema })
  onTestFinished(async () => {
    await store.close()
    await dropSchema(schema)
  })
  const first = await createHarness({ agents: [parks], store: createMemoryStore() })
  const { id } = await first.send('the message of the user')
  const parked = await first.until(id, 'paused-by-agent')
  const file = await first.engine.exportTask(operator, { taskId: id })
  const second = await createHarness({ agents: [parks], store })
  const { holdId = '' } = await second.engine.importTask(operator, file)
  const { history, suspension } = await second.get(id)
  expect({ history, suspension }).toEqual({
    history: parked.history,
    suspension: parked.suspension,
  })
  expect((await second.engine.verify(alice, id)).faults).toEqual([])
  await second.engine.lift(operator, holdId)
  await second.engine.resume(alice, { taskId: id })
  expect((await second.until(id, 'completed')).state).toBe('completed')
  second.crash()
})

it('twice at once in two processes, under a hold on new tasks: one task, and it stays held', async () => {
  const schema = newSchema()
  const open = () => createPostgresStore({ url: inject('postgres'), schema })
  const stores = [await open(), await open()]
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await dropSchema(schema)
  })
  const first = await createHarness({ agents: [parks], store: createMemoryStore() })
  const { id } = await first.send('the message of the user')
  await first.until(id, 'paused-by-agent')
  const file = await first.engine.exportTask(operator, { taskId: id })
  const ids = createCountingIds()
  const [a, b] = await Promise.all(
    stores.map((store) => createHarness({ agents: [parks], store, ids })),
  )
  const panic = await a?.engine.hold(root, { scope: { all: true }, reason: 'x', holdNew: true })
  const imported = await Promise.all(
    [a, b, a, b].map((one) => one?.engine.importTask(operator, file)),
  )
  const own = imported[0]?.holdId ?? ''
  expect(imported.map((answer) => answer?.holdId)).toEqual([own, own, own, own])
  expect((await b?.get(id))?.holds).toEqual([own, panic?.holdId])
  await b?.engine.importTask(operator, { ...file, start: true })
  expect((await a?.get(id))?.holds).toEqual([panic?.holdId])
  a?.crash()
  b?.crash()
})
