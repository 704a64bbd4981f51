/** The counts that the functions keep are those of the table. */
import { expect, inject, it, onTestFinished } from 'vitest'
import { states } from '../../../core/states.ts'
import type { Store } from '../../../ports/store.ts'
import { creation, sampleRow, step } from '../../../testing/sample-task.ts'
import { createPostgresStore } from '../postgres-store.ts'
import { dropSchema, execute, newSchema } from '../test-support/new-schema.ts'

function schemaOfTest(): string {
  const schema = newSchema()
  onTestFinished(() => dropSchema(schema))
  return schema
}

async function opened(schema: string): Promise<Store> {
  const store = await createPostgresStore({ url: inject('postgres'), schema })
  onTestFinished(() => store.close())
  return store
}

interface Group {
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly state: string
  readonly tasks: string
}

/** Compares each group of the table, and the sums that the store is asked for. */
async function expectTrueCounts(store: Store, schema: string): Promise<void> {
  const inTable = await execute<Group>(
    `SELECT tenant, principal, agent, state, count(*) AS tasks FROM ${schema}.tasks GROUP BY 1, 2, 3, 4`,
  )
  for (const { tenant, principal, agent, state, tasks } of inTable) {
    const wanted = states.filter((one) => one === state)
    const counted = await store.count({ tenant, principal, agent, states: wanted })
    expect(counted).toBe(Number(tasks))
  }
  const sumOf = (groups: readonly Group[]): number =>
    groups.reduce((sum, { tasks }) => sum + Number(tasks), 0)
  expect(await store.count({})).toBe(sumOf(inTable))
  for (const state of states) {
    const ofState = inTable.filter((group) => group.state === state)
    expect(await store.count({ states: [state] }), state).toBe(sumOf(ofState))
  }
}

it('counts what several processes write at the same time', async () => {
  const schema = schemaOfTest()
  const stores = [await opened(schema), await opened(schema)]
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const store = stores[n % 2]
      const id = `task-${n}`
      const of = { tenant: `t${n % 2}`, principal: `p${n % 3}`, agent: `a${n % 5}` }
      const row = (changes: Parameters<typeof sampleRow>[1]) => sampleRow(id, { ...of, ...changes })
      await store?.commit([creation(id, row({ state: 'submitted' }))])
      await store?.commit([step(id, 2, { row: row({ state: 'working' }) })])
      // A commit that changes the row and keeps the state.
      await store?.commit([step(id, 3, { row: row({ state: 'working', held: true }) })])
      if (n % 3 > 0) await store?.commit([step(id, 4, { row: row({ state: 'completed' }) })])
    }),
  )
  for (const store of stores) {
    await expectTrueCounts(store, schema)
    await store.pruneTasks(9_999, 1, 30)
    await expectTrueCounts(store, schema)
  }
})
