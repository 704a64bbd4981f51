/** Tests R2 of `engine/upkeep/retention.ts`. */

import { isTerminal, states } from '../../core/states.ts'
import type { PruneResult } from '../../ports/store/pruning.ts'
import {
  creation,
  sampleClaim,
  sampleEvent,
  sampleHold,
  sampleMessage,
  sampleRow,
  sampleSnapshot,
  step,
} from '../sample-task.ts'
import { samplePush } from './pushes.ts'
import { appendDispatched, pruneTasks, type Subject } from './subject.ts'

export function retention(subject: Subject): void {
  ofTasks(subject)
  ofNeededTasks(subject)
  ofContexts(subject)
  ofTheRest(subject)
}

function ofTasks(subject: Subject): void {
  const { it, expect } = subject.kit
  it('removes terminal tasks of before an instant, and never one that goes on', async () => {
    const { store } = subject
    await store.commit([
      ...states.map((state) => creation(`old-${state}`, { state, statusAt: 99 })),
      ...states.map((state) => creation(`new-${state}`, { state, statusAt: 100 })),
    ])

    expect(await pruneTasks(store, 100)).toBe(4)
    expect(await pruneTasks(store, 100)).toBe(0)

    const left = (await store.list({ limit: 99 })).map((row) => row.id)
    const expected = [
      ...states.filter((state) => !isTerminal(state)).map((state) => `old-${state}`),
      ...states.map((state) => `new-${state}`),
    ]
    expect([...left].sort()).toEqual(expected.sort())
  })

  it('removes everything of a task, so that its id can be used anew', async () => {
    const { store } = subject
    const row = { state: 'completed', waits: ['tick'], dueAt: 5, owner: 'w', readyAt: 1 } as const
    await store.commit([creation('task-1', row, { snapshot: sampleSnapshot('task-1', 2) })])

    expect(await pruneTasks(store, 2_000)).toBe(1)

    expect(await store.load('acme', 'task-1')).toBeUndefined()
    expect(await store.records('acme', 'task-1', 0, 9)).toEqual([])
    expect(await store.waiting('acme', ['tick'], '', 9)).toEqual([])
    expect(await store.nextDueAt()).toBeUndefined()
    expect(await store.orphans('', 9)).toEqual([])
    expect(await store.readyAgents()).toEqual([])
    expect(await store.count({})).toBe(0)
    expect(await store.commit([creation('task-1')])).toEqual([{ status: 'written' }])
    expect(await store.load('acme', 'task-1')).toEqual(
      expect.objectContaining({ records: creation('task-1').records }),
    )
  })
}

function ofTheRest(subject: Subject): void {
  const { it, expect } = subject.kit
  it('removes at most as many as asked for', async () => {
    const { store } = subject
    await store.commit(states.map((state) => creation(`task-${state}`, { state, statusAt: 1 })))
    const { removed } = await store.pruneTasks(2, 9, 1)
    expect(removed).toBe(1)
    expect(await pruneTasks(store, 2, 1)).toBe(3)
    await appendDispatched(store, 'acme', [sampleEvent('1'), sampleEvent('2')], 1)
    expect(await store.pruneEvents(2, 1)).toBe(1)
    expect((await store.events('acme', 0, 9)).map(({ event }) => event.id)).toEqual(['2'])
  })

  it('removes old events and old claims, and leaves the others', async () => {
    const { store } = subject
    await appendDispatched(store, 'acme', [sampleEvent('1')], 99)
    await appendDispatched(store, 'acme', [sampleEvent('2')], 100)
    await store.claim(sampleClaim('task-1', { key: 'old', createdAt: 99 }))
    await store.claim(sampleClaim('task-2', { key: 'new', createdAt: 100 }))

    expect(await store.pruneEvents(100, 9)).toBe(1)
    expect(await store.pruneClaims(100, 9)).toBe(1)

    expect((await store.events('acme', 0, 9)).map(({ event }) => event.id)).toEqual(['2'])
    expect(await store.findClaim(sampleClaim('', { key: 'old' }))).toBeUndefined()
    expect(await store.findClaim(sampleClaim('', { key: 'new' }))).toBeDefined()
  })

  it('keeps the claim of a removed task, so that a late duplicate does not start it again', async () => {
    const { store } = subject
    const claim = sampleClaim('task-1')
    await store.commit([creation('task-1', { state: 'completed' }, { claim })])
    await pruneTasks(store, 2_000)
    expect(await store.findClaim(claim)).toEqual(claim)
  })
}

const mine = { tenant: 'acme', principal: 'ann', contextId: 'c' } as const

function ofNeededTasks(subject: Subject): void {
  const { it, expect } = subject.kit
  it('keeps tasks of a context that has an open task, and removes them when it has ended', async () => {
    const { store } = subject
    const ended = { state: 'completed', statusAt: 1 } as const
    await store.commit([
      creation('parent', { ...mine, statusAt: 1 }),
      creation('child', { ...mine, ...ended, parentId: 'parent' }),
      creation('elsewhere', ended),
      creation('another-principal', { ...mine, ...ended, principal: 'bob' }),
    ])
    expect(await pruneTasks(store, 2, 1)).toBe(2)
    expect(await store.load('acme', 'child')).toBeDefined()
    const over = sampleRow('parent', { ...mine, ...ended })
    await store.commit([step('parent', 2, { row: over })])
    expect(await pruneTasks(store, 2, 1)).toBe(2)
    expect(await store.load('acme', 'child')).toBeUndefined()
  })

  it('R2: keeps a task with a webhook that is not delivered', async () => {
    const { store } = subject
    const ended = { state: 'completed', statusAt: 1 } as const
    await store.commit(['open', 'failed', 'done', 'none'].map((id) => creation(id, ended)))
    await store.putPush(samplePush('open', 'a'))
    await store.putPush(samplePush('failed', 'a', { failedAt: 1 }))
    await store.putPush(samplePush('done', 'a', { done: true }))
    expect(await pruneTasks(store, 2)).toBe(2)
    expect(await store.pushes('acme', 'open')).toHaveLength(1)
    expect(await store.pushes('acme', 'failed')).toHaveLength(1)
    expect(await store.pushes('acme', 'done')).toEqual([])
  })

  it('looks past many tasks it has to keep', async () => {
    const { store } = subject
    const ended = { state: 'failed', statusAt: 1 } as const
    await store.commit([
      creation('open', mine),
      ...Array.from({ length: 20 }, (_, n) => creation(`kept-${n}`, { ...mine, ...ended })),
      creation('zzz', ended),
    ])
    expect(await pruneTasks(store, 2, 3)).toBe(1)
    expect(await store.load('acme', 'zzz')).toBeUndefined()
  })

  it('knows the row of a task that was removed, until that is forgotten too', async () => {
    const { store } = subject
    const row = sampleRow('task-1', { state: 'failed', statusAt: 1, parentId: 'p' })
    await store.commit([creation('task-1', row)])
    expect(await store.removedTask('acme', 'task-1')).toBeUndefined()
    await pruneTasks(store, 2)
    expect(await store.removedTask('acme', 'task-1')).toEqual(row)
    expect(await store.pruneRemovedTasks(5_000, 9)).toBe(0)
    expect(await store.pruneRemovedTasks(5_001, 9)).toBe(1)
    expect(await store.removedTask('acme', 'task-1')).toBeUndefined()
  })
}

function ofContexts(subject: Subject): void {
  const { it, expect } = subject.kit
  async function all(prune: (after?: string) => Promise<PruneResult>): Promise<number> {
    let total = 0
    let after: string | undefined
    do {
      const step = await prune(after)
      total += step.removed
      after = step.after
    } while (after !== undefined)
    return total
  }

  it('removes old messages and sessions of contexts without an open task', async () => {
    const { store } = subject
    const said = (contextId: string, at: number) =>
      ({ ...mine, contextId, at, message: sampleMessage(`${at}`) }) as const
    await store.commit([creation('open', mine)])
    await store.reply(undefined, [said('c', 1), said('d', 1), said('e', 1), said('d', 5)])
    const session = { tenant: 'acme', principal: 'ann', cwd: '/', createdAt: 1, updatedAt: 1 }
    await store.putSession({ ...session, id: 'c' })
    await store.putSession({ ...session, id: 'd' })
    await store.putSession({ ...session, id: 'e', deletedAt: 1 })
    await store.putSession({ ...session, id: 'f', updatedAt: 5 })

    expect(await all((after) => store.pruneContextMessages(2, 1, after))).toBe(2)
    expect(await all((after) => store.pruneSessions(2, 1, after))).toBe(2)

    for (const [id, messages] of [
      ['c', 1],
      ['d', 1],
      ['e', 0],
    ] as const) {
      expect(await store.contextMessages('acme', 'ann', id, 9)).toHaveLength(messages)
    }
    expect(await store.session('acme', 'ann', 'c')).toBeDefined()
    expect(await store.session('acme', 'ann', 'd')).toBeUndefined()
    expect(await store.session('acme', 'ann', 'e')).toBeUndefined()
    expect(await store.session('acme', 'ann', 'f')).toBeDefined()
  })

  it('removes holds that were lifted before an instant', async () => {
    const { store } = subject
    await store.putHold(sampleHold('old', { liftedAt: 1 }))
    await store.putHold(sampleHold('new', { liftedAt: 2 }))
    await store.putHold(sampleHold('active'))
    expect(await store.pruneHolds(2, 9)).toBe(1)
    expect((await store.holds(true)).map(({ id }) => id).sort()).toEqual(['active', 'new'])
  })

  it('shows the messages of a context up to a position', async () => {
    const { store } = subject
    const said = (n: number) => ({ ...mine, at: 1, message: sampleMessage(`${n}`) }) as const
    await store.reply(undefined, [said(1), said(2)])
    const seen = await store.contextMessages('acme', 'ann', 'c', 9)
    await store.reply(undefined, [said(3)])
    const upTo = seen.at(-1)?.pos ?? 0
    expect(await store.contextMessages('acme', 'ann', 'c', 9, upTo)).toEqual(seen)
    expect(await store.contextMessages('acme', 'ann', 'c', 1, upTo)).toEqual(seen.slice(1))
    expect(await store.contextMessages('acme', 'ann', 'c', 9)).toHaveLength(3)
    expect(await store.contextMessages('acme', 'ann', 'c', 9, 0)).toEqual([])
  })
}
