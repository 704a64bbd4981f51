/**
 * Compares a store with a simple model: random histories of writes, and after each write all reads. This suite is separate
 * from `store-contract.ts` because it needs fast-check.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RESERVED_MS } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'
import type { ClusterUnderTest, MakeStore } from '../../testing/store-contract.ts'
import {
  agents,
  createModel,
  ids,
  type Model,
  names,
  queries,
  tenantOf,
  tenants,
} from './store-model/model.ts'
import { carryOut, type Operation, operation } from './store-model/operations.ts'

/** Fixed, so that every run has the same histories. */
const SEED = 20_250_101

export function describeStoreModel(name: string, makeStore: MakeStore, numRuns = 30): void {
  async function replay(history: readonly Operation[]): Promise<void> {
    const { store: first, reopen, cleanup, cluster } = await makeStore()
    const model = createModel()
    let store = first
    try {
      for (const one of history) {
        if (one.type === 'reopen') store = await reopen()
        else await carryOut(one, store, model)
        await compare(store, model, cluster)
      }
    } finally {
      await cleanup()
    }
  }

  describe(name, () => {
    it('answers every read as the model does, after every write', {
      timeout: 300_000,
    }, async () => {
      const histories = fc.array(operation, { minLength: 1, maxLength: 12 })
      await fc.assert(fc.asyncProperty(histories, replay), { numRuns, seed: SEED })
    })
  })
}

async function compare(store: Store, model: Model, cluster?: ClusterUnderTest): Promise<void> {
  /** A shared store does not hand out a task twice within this time. */
  const unreserve = async () => cluster?.pass(RESERVED_MS)
  for (const id of ids) {
    const tenant = tenantOf(id)
    const { row, ...log } = (await store.load(tenant, id)) ?? {}
    expect(log).toEqual(model.load(id) ?? {})
    if (row !== undefined) expect(await store.row(tenant, id)).toMatchObject(row)
    expect(await store.records(tenant, id, 1, 2)).toEqual(model.records(id).slice(1, 3))
  }
  for (const query of queries) {
    expect(await store.list({ ...query, limit: 2 })).toEqual(model.list(query).slice(0, 2))
    const { before: _, ...filter } = query
    expect(await store.count(filter)).toBe(model.list(filter).length)
  }
  await unreserve()
  for (const agent of agents) {
    expect(sorted((await store.ready(agent, 99)).map(({ taskId }) => taskId))).toEqual(
      model.ready(agent),
    )
  }
  for (const tenant of tenants) {
    expect(await store.waiting(tenant, names, '', 99)).toEqual(model.waiting(tenant, names))
    expect(await store.waiting(tenant, ['a', 'b'], '', 1)).toEqual(
      model.waiting(tenant, ['a', 'b']).slice(0, 1),
    )
    const events = await store.events(tenant, 0, 99, names)
    expect(events.map(({ pos: _, ...event }) => event)).toEqual(model.events(tenant))
    const positions = events.map(({ pos }) => pos)
    expect(positions).toEqual([...positions].sort((a, b) => a - b))
    const [{ last = 0, oldest = 0 } = {}] = await store.eventPositions([tenant])
    expect(last).toBeGreaterThanOrEqual(positions.at(-1) ?? 0)
    if (positions.length > 0) expect(oldest).toBe(positions[0])
  }
  await unreserve()
  expect(sorted((await store.due(2, 99)).map(({ taskId }) => taskId))).toEqual(model.due(2))
  expect(await store.nextDueAt()).toBe(model.nextDueAt())
  await unreserve()
  const orphans = await store.orphans('w1', 99)
  // No worker has a lease in the store of several processes.
  const alive = cluster === undefined ? 'w1' : 'nobody'
  expect(sorted(orphans.map(({ taskId }) => taskId))).toEqual(model.orphans(alive))
}

/** The order among equals is not promised. */
function sorted(found: readonly string[]): readonly string[] {
  return [...found].sort()
}
