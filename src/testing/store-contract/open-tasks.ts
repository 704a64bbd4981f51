import { isTerminal, states } from '../../core/states.ts'
import type { OpenTaskQuery, TaskRow } from '../../ports/store/tasks.ts'
import type { Store } from '../../ports/store.ts'
import { creation, sampleRow, step } from '../sample-task.ts'
import type { Subject } from './subject.ts'

export function openTasks(subject: Subject): void {
  const { it, expect } = subject.kit
  it('finds tasks in every state but the terminal ones', async () => {
    const { store } = subject
    await store.commit(states.map((state) => creation(`task-${state}`, { state, contextId: 'c' })))
    const expected = states.filter((state) => !isTerminal(state)).map((state) => `task-${state}`)
    expect(await ids(store, {})).toEqual(expected.sort())
  })

  it('sorts by context, then id, and narrows by every field', async () => {
    const { store } = subject
    await store.commit([
      creation('task-4', { contextId: 'c1' }),
      creation('task-1', { contextId: 'c2', agent: 'tax' }),
      creation('task-3', { contextId: 'c1', held: true }),
      creation('task-2', { contextId: 'c2', tenant: 'other', held: true }),
      creation('task-5', { contextId: 'c1', state: 'completed', held: true }),
    ])
    expect(await ids(store, {})).toEqual(['task-3', 'task-4', 'task-1', 'task-2'])
    expect(await ids(store, { contextId: 'c1' })).toEqual(['task-3', 'task-4'])
    expect(await ids(store, { agent: 'tax' })).toEqual(['task-1'])
    expect(await ids(store, { tenant: 'acme' })).toEqual(['task-3', 'task-4', 'task-1'])
    expect(await ids(store, { held: true })).toEqual(['task-3', 'task-2'])
    expect(await ids(store, { held: true, tenant: 'acme', contextId: 'c1' })).toEqual(['task-3'])
    expect(await ids(store, { tenant: 'acme', agent: 'tax', contextId: 'c1' })).toEqual([])
    expect(await ids(store, { contextId: 'c1', after: { contextId: 'c1', id: 'task-3' } })).toEqual(
      ['task-4'],
    )
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

async function ids(store: Store, query: Omit<OpenTaskQuery, 'limit'>): Promise<readonly string[]> {
  return (await store.openTasks({ ...query, limit: 99 })).map((row) => row.id)
}
