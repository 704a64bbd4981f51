import { afterAll, expect, inject, it } from 'vitest'
import { createPostgresStore } from './postgres-store.ts'
import { dropSchema, execute, newSchema } from './test-support/new-schema.ts'

it('a duty that is given back leaves no row, and only its worker gives it back', async () => {
  const schema = newSchema()
  const store = await createPostgresStore({ url: inject('postgres'), schema })
  afterAll(async () => {
    await store.close()
    await dropSchema(schema)
  })
  const rows = () => execute(`SELECT name, worker_id FROM ${schema}.duties`)
  expect(await store.cluster?.takeDuty('webhook 1', 'a', 60_000)).toBe(true)
  expect(await store.cluster?.takeDuty('webhook 1', 'b', 0)).toBe(false)
  expect(await rows()).toEqual([{ name: 'webhook 1', worker_id: 'a' }])
  expect(await store.cluster?.takeDuty('webhook 1', 'a', 0)).toBe(true)
  expect(await rows()).toEqual([])
})
