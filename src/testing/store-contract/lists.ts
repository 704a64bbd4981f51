import { isTerminal, states } from '../../core/states.ts'
import type { OpenTaskQuery, TaskQuery, TaskRow } from '../../ports/store/tasks.ts'
import type { Store } from '../../ports/store.ts'
import { creation, sampleRow, step } from '../sample-task.ts'
import { pruneTasks, type Subject } from './subject.ts'

/** The tasks that each query finds. */
const cases: readonly (readonly [Omit<TaskQuery, 'limit'>, readonly number[]])[] = [
  [{}, [1, 2, 3, 4, 5, 6]],
  [{ tenant: 'acme' }, [1, 2, 3, 5, 6]],
  [{ principal: 'ann' }, [1, 3, 4, 5, 6]],
  [{ tenant: 'acme', principal: 'ann' }, [1, 3, 5, 6]],
  [{ agent: 'tax' }, [3, 4]],
  [{ contextId: 'c1' }, [1, 2, 5, 6]],
  [{ contextId: 'c1', tenant: 'acme', principal: 'ann' }, [1, 5, 6]],
  [{ parentId: 'task-1' }, [3, 5]],
  [{ parentId: 'task-1', states: ['working'] }, [3]],
  [{ states: ['paused-by-agent', 'completed'] }, [5, 6]],
  [{ states: ['completed', 'completed'] }, [6]],
  [{ states: [] }, []],
  [{ tenant: 'acme', principal: 'ann', states: ['working'] }, [1, 3]],
  [{ held: true }, [4, 5]],
  [{ held: true, states: ['working'] }, [4]],
  [{ held: false, tenant: 'acme' }, [1, 2, 3, 6]],
  [{ statusAtFrom: 9 }, [1, 2, 3, 4, 5, 6]],
  [{ statusAtFrom: 10 }, [1, 2, 3, 5, 6]],
  [{ tenant: 'nobody' }, []],
]

export function lists(subject: Subject): void {
  filters(subject)
  orderAndPages(subject)
}

function filters(subject: Subject): void {
  const { it, expect } = subject.kit
  const scopes = {
    'a principal': { tenant: 'acme', principal: 'ann' },
    'a tenant': { tenant: 'acme' },
    'all tenants': {},
  }
  for (const [of, mine] of Object.entries(scopes)) {
    it(`counts what was written for ${of} and nothing else, however often it is asked`, async () => {
      const { store } = subject
      await store.commit([creation('task-1', mine)])
      expect(await store.count(mine)).toBe(1)
      await store.commit([creation('task-2', mine), creation('task-1', mine)])
      expect(await store.count(mine)).toBe(2)
      expect(await store.count({ ...mine, states: ['completed'] })).toBe(0)
      await store.commit([
        step('task-1', 2, { row: sampleRow('task-1', { ...mine, state: 'completed' }) }),
      ])
      expect(await store.count({ ...mine, states: ['completed'] })).toBe(1)
      expect(await store.count(mine)).toBe(2)
      await pruneTasks(store, Number.MAX_SAFE_INTEGER)
      expect(await store.count(mine)).toBe(1)
    })
  }

  it('narrows by every field, alone and together', async () => {
    const { store } = subject
    await store.commit([
      creation('task-1', { tenant: 'acme', principal: 'ann', agent: 'travel', contextId: 'c1' }),
      creation('task-2', { tenant: 'acme', principal: 'bob', agent: 'travel', contextId: 'c1' }),
      creation('task-3', { tenant: 'acme', principal: 'ann', agent: 'tax', parentId: 'task-1' }),
      creation('task-4', {
        tenant: 'other',
        principal: 'ann',
        agent: 'tax',
        held: true,
        statusAt: 9,
      }),
      creation('task-5', {
        state: 'paused-by-agent',
        parentId: 'task-1',
        held: true,
        contextId: 'c1',
      }),
      creation('task-6', { state: 'completed', contextId: 'c1' }),
    ])
    for (const [query, expected] of cases) {
      const found = await ids(store, query)
      expect([...found].sort(), JSON.stringify(query)).toEqual(expected.map((n) => `task-${n}`))
      expect(await store.count(query), JSON.stringify(query)).toBe(expected.length)
    }
  })

  it('finds every task of a context, also the one whose id the context id is derived from', async () => {
    const { store } = subject
    const named = (version: number) => `01a1dfe5-8ae9-${version}54a-9569-020111d94f95`
    const contextId = named(8)
    await store.commit([
      creation(named(7), { contextId, statusAt: 1 }),
      creation('joined-1', { contextId, statusAt: 2, state: 'completed' }),
      creation('joined-2', { contextId, statusAt: 3 }),
      creation('elsewhere', { contextId: named(4) }),
      // A context whose id equals the id of its task.
      creation(named(9), { contextId: named(9) }),
    ])
    const inIt = ['joined-2', 'joined-1', named(7)]
    expect(await ids(store, { contextId })).toEqual(inIt)
    expect(await store.count({ contextId })).toBe(3)
    expect(await ids(store, { contextId, tenant: 'acme', principal: 'bob' })).toEqual([])
    expect(await ids(store, { contextId, states: ['working'] })).toEqual(['joined-2', named(7)])
    expect(await ids(store, { contextId, before: { statusAt: 2, id: 'joined-1' } })).toEqual([
      named(7),
    ])
    expect(await ids(store, { contextId: named(4) })).toEqual(['elsewhere'])
    expect(await ids(store, { contextId: named(9) })).toEqual([named(9)])
    expect(await ids(store, { contextId: named(7) })).toEqual([])
  })
}

function orderAndPages(subject: Subject): void {
  const { it, expect } = subject.kit
  it('sorts by when the state was last reported, then by id, newest first', async () => {
    const { store } = subject
    await store.commit([
      creation('task-1', { statusAt: 2 }),
      creation('task-2', { statusAt: 3, state: 'completed' }),
      creation('task-4', { statusAt: 2, state: 'failed' }),
      creation('task-3', { statusAt: 2 }),
    ])
    expect(await ids(store, {})).toEqual(['task-2', 'task-4', 'task-3', 'task-1'])
  })

  it('pages through everything without a gap or a repetition, ties included', async () => {
    const { store } = subject
    await store.commit(
      Array.from({ length: 30 }, (_, n) =>
        creation(`task-${String(n).padStart(2, '0')}`, {
          statusAt: n % 4,
          state: states[n % states.length] ?? 'working',
        }),
      ),
    )
    const whole = await store.list({ limit: 100 })
    for (const filter of [{}, { tenant: 'acme', principal: 'ann' }]) {
      const paged = []
      for (;;) {
        const last = paged.at(-1)
        const before = last && { statusAt: last.statusAt, id: last.id }
        const page = await store.list({ ...filter, limit: 7, ...(before && { before }) })
        if (page.length === 0) break
        paged.push(...page)
      }
      expect(paged).toEqual(whole)
    }
  })
}

async function ids(store: Store, query: Omit<TaskQuery, 'limit'>): Promise<readonly string[]> {
  return (await store.list({ ...query, limit: 99 })).map((row) => row.id)
}

export function openTasks(subject: Subject): void {
  const { it, expect } = subject.kit
  it('finds tasks in every state but the terminal ones', async () => {
    const { store } = subject
    await store.commit(states.map((state) => creation(`task-${state}`, { state, contextId: 'c' })))
    const expected = states.filter((state) => !isTerminal(state)).map((state) => `task-${state}`)
    expect(await openIds(store, {})).toEqual(expected.sort())
  })

  it('narrows by every field', async () => {
    const { store } = subject
    await store.commit([
      creation('task-4', { contextId: 'c1' }),
      creation('task-1', { contextId: 'c2', agent: 'tax' }),
      creation('task-3', { contextId: 'c1', held: true }),
      creation('task-2', { contextId: 'c2', tenant: 'other', held: true }),
      creation('task-5', { contextId: 'c1', state: 'completed', held: true }),
    ])
    const found = async (query: Omit<OpenTaskQuery, 'limit'>) =>
      [...(await openIds(store, query))].sort()
    expect(await found({})).toEqual(['task-1', 'task-2', 'task-3', 'task-4'])
    expect(await found({ contextId: 'c1' })).toEqual(['task-3', 'task-4'])
    expect(await found({ agent: 'tax' })).toEqual(['task-1'])
    expect(await found({ tenant: 'acme' })).toEqual(['task-1', 'task-3', 'task-4'])
    expect(await found({ held: true })).toEqual(['task-2', 'task-3'])
    expect(await found({ held: true, tenant: 'acme', contextId: 'c1' })).toEqual(['task-3'])
    expect(await found({ tenant: 'acme', agent: 'tax', contextId: 'c1' })).toEqual([])
    const after = { tenant: 'acme', contextId: 'c1', id: 'task-3' }
    expect(await found({ contextId: 'c1', after })).toEqual(['task-4'])
    const [row] = await store.openTasks({ agent: 'tax', limit: 9 })
    expect(row).toEqual(sampleRow('task-1', { contextId: 'c2', agent: 'tax' }))
  })

  it('meets every task, page after page, while all of them move', async () => {
    const { store } = subject
    const all = Array.from({ length: 40 }, (_, n) => `task-${String(n).padStart(2, '0')}`)
    const contextOf = (id: string) => `c${Number(id.slice(5)) % 7}`
    await store.commit(all.map((id) => creation(id, { contextId: contextOf(id), statusAt: 1 })))
    const found: TaskRow[] = []
    for (let round = 2; ; round++) {
      const last = found.at(-1)
      const page = await store.openTasks({
        limit: 3,
        ...(last === undefined ? {} : { after: last }),
      })
      if (page.length === 0) break
      found.push(...page)
      const moved = { statusAt: round, state: round % 2 ? 'working' : 'paused-by-agent' } as const
      await store.commit(
        all.map((id) =>
          step(id, round, { row: sampleRow(id, { contextId: contextOf(id), ...moved }) }),
        ),
      )
    }
    expect(found.map((row) => row.id).sort()).toEqual(all)
  })
}

async function openIds(
  store: Store,
  query: Omit<OpenTaskQuery, 'limit'>,
): Promise<readonly string[]> {
  return (await store.openTasks({ ...query, limit: 99 })).map((row) => row.id)
}
