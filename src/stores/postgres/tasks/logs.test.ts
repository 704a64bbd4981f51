import { expect, inject, it, onTestFinished } from 'vitest'
import { creation, sampleRow, step } from '../../../testing/sample-task.ts'
import { createPostgresStore } from '../postgres-store.ts'
import { dropSchema, execute, newSchema } from '../test-support/new-schema.ts'

it('reads the row of a task with its log, so that a log without its end is noticed', async () => {
  const schema = newSchema()
  const store = await createPostgresStore({ url: inject('postgres'), schema })
  onTestFinished(async () => {
    await store.close()
    await dropSchema(schema)
  })
  const row = sampleRow('task-1', { state: 'completed', statusAt: 77 })
  await store.commit([creation('task-1')])
  await store.commit([step('task-1', 2, { row })])
  expect(await store.load('acme', 'task-1')).toMatchObject({
    row: { state: 'completed', statusAt: 77 },
  })
  await execute(`DELETE FROM ${schema}.records WHERE first > 1`)
  const loaded = await store.load('acme', 'task-1')
  expect(loaded?.row).toEqual({ state: 'completed', statusAt: 77 })
  expect(loaded?.records).toHaveLength(2)
  expect(await store.load('acme', 'task-2')).toBeUndefined()
})
