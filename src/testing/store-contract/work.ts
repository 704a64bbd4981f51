import { RESERVED_MS } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'
import { creation, sampleRow, step } from '../sample-task.ts'
import type { Subject } from './subject.ts'

export function work(subject: Subject): void {
  runnable(subject)
  fairness(subject)
  waiting(subject)
}

/** The ids of ready tasks. */
export async function dueIds(store: Store, now: number, limit: number): Promise<readonly string[]> {
  return (await store.due(now, limit)).map(({ taskId }) => taskId)
}

export async function readyIds(
  store: Pick<Store, 'ready'>,
  ...query: Parameters<Store['ready']>
): Promise<readonly string[]> {
  return (await store.ready(...query)).map(({ taskId }) => taskId)
}

function runnable(subject: Subject): void {
  const { it, expect } = subject.kit
  it('hands out the ready tasks of an agent, longest waiting first', async () => {
    const { store } = subject
    await store.commit([
      creation('task-1', { readyAt: 30 }),
      creation('task-2', { readyAt: 10 }),
      creation('task-3', { readyAt: 20, agent: 'tax' }),
      creation('task-4', { owner: 'worker-1' }),
      creation('task-5', { readyAt: 20 }),
    ])
    expect([...(await store.readyAgents())].sort()).toEqual(['tax', 'travel'])
    expect(await readyIds(store, 'travel', 1)).toEqual(['task-2'])
    await subject.cluster?.pass(RESERVED_MS)
    expect(await readyIds(store, 'travel', 9)).toEqual(['task-2', 'task-5', 'task-1'])
    expect(await store.ready('nobody', 9)).toEqual([])
  })

  it('forgets a ready task as soon as somebody runs it', async () => {
    const { store } = subject
    await store.commit([creation('task-1', { readyAt: 30 })])
    await store.commit([step('task-1', 2, { row: sampleRow('task-1', { owner: 'worker-1' }) })])
    expect(await store.ready('travel', 9)).toEqual([])
    expect(await store.readyAgents()).toEqual([])
  })

  it('finds the tasks whose worker is gone', async () => {
    const { store } = subject
    await store.commit([
      creation('task-1', { owner: 'worker-1' }),
      creation('task-2', { owner: 'worker-2' }),
      creation('task-3', { owner: 'worker-3' }),
      creation('task-4'),
    ])
    // Not for a shared store, which decides by leases (store-contract/cluster.ts).
    if (store.cluster !== undefined) return
    const found = [...(await store.orphans('worker-2', 9))].sort((a, b) =>
      a.taskId < b.taskId ? -1 : 1,
    )
    expect(found).toEqual([
      { taskId: 'task-1', tenant: 'acme', owner: 'worker-1' },
      { taskId: 'task-3', tenant: 'acme', owner: 'worker-3' },
    ])
    expect(await store.orphans('worker-2', 1)).toHaveLength(1)
    expect(await store.orphans('worker-9', 9)).toHaveLength(3)
  })
}

function fairness(subject: Subject): void {
  const { it, expect } = subject.kit
  it('hands out the ready tasks of each tenant in turn, without those of tenants left out', async () => {
    const { store } = subject
    const of = (tenant: string, n: number, readyAt: number) =>
      creation(`${tenant}-${n}`, { tenant, readyAt })
    await store.commit([of('a', 1, 1), of('a', 2, 2), of('a', 3, 3), of('b', 1, 8), of('c', 1, 5)])
    expect(await store.ready('travel', 3)).toEqual([
      { taskId: 'a-1', tenant: 'a' },
      { taskId: 'b-1', tenant: 'b' },
      { taskId: 'c-1', tenant: 'c' },
    ])
    await subject.cluster?.pass(RESERVED_MS)
    expect(await readyIds(store, 'travel', 9, ['a', 'c'])).toEqual(['b-1'])
    await subject.cluster?.pass(RESERVED_MS)
    expect(await store.ready('travel', 9, ['a', 'b', 'c'])).toEqual([])
    expect(await readyIds(store, 'travel', 9)).toEqual(['c-1', 'a-1', 'b-1', 'a-2', 'a-3'])
  })

  it('hands out as many tasks of one tenant as are wanted, also when all became ready together', async () => {
    const { store } = subject
    const ids = ['a-1', 'a-2', 'a-3', 'a-4', 'a-5']
    await store.commit(ids.map((id) => creation(id, { readyAt: 1 })))
    expect(await readyIds(store, 'travel', 4)).toEqual(ids.slice(0, 4))
  })

  it('hands out no ready task that is to be skipped, and the turn of its tenant does not count', async () => {
    const { store } = subject
    const of = (tenant: string, n: number) => creation(`${tenant}-${n}`, { tenant, readyAt: n })
    await store.commit([of('a', 1), of('a', 2), of('b', 1), of('b', 2), of('c', 1)])
    const skip = ['a-1', 'c-1']
    const found: string[] = []
    for (let call = 0; call < 3; call++) {
      found.push(...(await readyIds(store, 'travel', 1, [], skip)))
      await subject.cluster?.pass(RESERVED_MS)
    }
    expect(found).toEqual(['a-2', 'b-1', 'a-2'])
    expect(await readyIds(store, 'travel', 4, [], skip)).toEqual(['b-1', 'a-2', 'b-2'])
    await subject.cluster?.pass(RESERVED_MS)
    expect(await store.ready('travel', 9, ['a', 'b'], skip)).toEqual([])
  })

  it('hands out tasks behind more tenants left out than one call looks at', async () => {
    const { store } = subject
    const out = Array.from({ length: 150 }, (_, n) => `out-${n}`)
    await store.commit([...out, 'z'].map((tenant) => creation(tenant, { tenant, readyAt: 1 })))
    expect(await readyIds(store, 'travel', 1, out)).toEqual(['z'])
    await subject.cluster?.pass(RESERVED_MS)
    expect(await readyIds(store, 'travel', 1, [], out)).toEqual(['z'])
  })

  it('hands out a task of every tenant, however many tenants there are', async () => {
    const { store } = subject
    const tenants = Array.from({ length: 150 }, (_, n) => `tenant-${n}`)
    await store.commit(tenants.map((tenant) => creation(tenant, { tenant, readyAt: 1 })))
    const seen = new Set<string>()
    for (let call = 0; call < 6 && seen.size < tenants.length; call++) {
      for (const id of await readyIds(store, 'travel', 64)) seen.add(id)
      await subject.cluster?.pass(RESERVED_MS)
    }
    expect(seen.size).toBe(tenants.length)
  })
}

function waiting(subject: Subject): void {
  const { it, expect } = subject.kit
  it('finds what is due, earliest first, and says when the next is', async () => {
    const { store } = subject
    expect(await store.nextDueAt()).toBeUndefined()
    await store.commit([
      creation('task-1', { dueAt: 300 }),
      creation('task-2', { dueAt: 100.5 }),
      creation('task-3', { dueAt: 200 }),
      creation('task-4'),
    ])
    expect(await store.nextDueAt()).toBe(100.5)
    expect(await store.due(100, 9)).toEqual([])
    expect(await dueIds(store, 200, 9)).toEqual(['task-2', 'task-3'])
    await subject.cluster?.pass(RESERVED_MS)
    expect(await dueIds(store, 1_000, 2)).toEqual(['task-2', 'task-3'])
  })

  it('finds who waits under a name: each task once, by id, in this tenant, page by page', async () => {
    const { store } = subject
    await store.commit([
      creation('task-3', { waits: ['build.done', '*'] }),
      creation('task-1', { waits: ['build.done:7'] }),
      creation('task-2', { waits: ['*'] }),
      creation('task-4', { waits: ['build.done'], tenant: 'other' }),
      creation('task-5', { waits: ['tick'] }),
    ])
    const names = ['build.done', 'build.done:7', '*']
    expect(await store.waiting('acme', names, '', 9)).toEqual(['task-1', 'task-2', 'task-3'])
    expect(await store.waiting('acme', names, '', 2)).toEqual(['task-1', 'task-2'])
    expect(await store.waiting('acme', names, 'task-2', 2)).toEqual(['task-3'])
    expect(await store.waiting('other', names, '', 9)).toEqual(['task-4'])
    expect(await store.waiting('acme', [], '', 9)).toEqual([])
  })

  it('names what tasks of a tenant wait for: each name once, by prefix, page by page', async () => {
    const { store } = subject
    await store.commit([
      creation('task-1', { waits: ['\u0001b', 'tick'] }),
      creation('task-2', { waits: ['\u0001b', '\u0001a'] }),
      creation('task-3', { waits: ['\u0001c'] }),
      creation('task-4', { waits: ['\u0001d'], tenant: 'other' }),
      creation('task-5', { waits: ['\u0002', '\u0000', 'u'] }),
    ])
    const all = ['\u0001a', '\u0001b', '\u0001c']
    expect(await store.waitNames('acme', '\u0001', '', 9)).toEqual(all)
    expect(await store.waitNames('acme', '\u0001', '', 2)).toEqual(all.slice(0, 2))
    expect(await store.waitNames('acme', '\u0001', '\u0001b', 2)).toEqual(['\u0001c'])
    expect(await store.waitNames('acme', 't', '', 9)).toEqual(['tick'])
    expect(await store.waitNames('other', '\u0001', '', 9)).toEqual(['\u0001d'])
    await store.commit([step('task-3', 2, { row: sampleRow('task-3') })])
    expect(await store.waitNames('acme', '\u0001', '', 9)).toEqual(all.slice(0, 2))
  })

  it('tells whose task waits for a name: of several, the one with the smallest id', async () => {
    const { store } = subject
    await store.commit([
      creation('task-2', { waits: ['a', 'b'], principal: 'ben' }),
      creation('task-1', { waits: ['b', 'c'], principal: 'ann' }),
      creation('task-3', { waits: ['d'], principal: 'cay', tenant: 'other' }),
    ])
    const owners = async (...names: readonly string[]): Promise<readonly string[]> =>
      [...(await store.waitOwners('acme', names))].sort()
    expect(await owners('a', 'b', 'c', 'd', 'e')).toEqual(['ann', 'ann', 'ben'])
    expect(await owners('d')).toEqual([])
    expect(await owners()).toEqual([])
    await store.commit([step('task-1', 2, { row: sampleRow('task-1', { principal: 'ann' }) })])
    expect(await owners('a', 'b', 'c')).toEqual(['ben', 'ben'])
  })
}
