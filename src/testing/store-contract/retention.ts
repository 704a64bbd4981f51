import { isTerminal, states } from '../../core/states.ts'
import { birth, sampleClaim, sampleEvent, sampleSnapshot } from '../sample-task.ts'
import type { Subject } from './subject.ts'

export function retention(subject: Subject): void {
  ofTasks(subject)
  ofTheRest(subject)
}

function ofTasks(subject: Subject): void {
  const { it, expect } = subject.kit
  it('removes terminal tasks of before an instant, and never one that goes on', async () => {
    const { store } = subject
    await store.commit([
      ...states.map((state) => birth(`old-${state}`, { state, statusAt: 99 })),
      ...states.map((state) => birth(`new-${state}`, { state, statusAt: 100 })),
    ])

    expect(await store.pruneTasks(100, 99)).toBe(4)
    expect(await store.pruneTasks(100, 99)).toBe(0)

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
    await store.commit([birth('task-1', row, { snapshot: sampleSnapshot('task-1', 2) })])

    expect(await store.pruneTasks(2_000, 9)).toBe(1)

    expect(await store.load('task-1')).toBeUndefined()
    expect(await store.records('task-1', 0, 9)).toEqual([])
    expect(await store.waiting('acme', ['tick'], '', 9)).toEqual([])
    expect(await store.nextDueAt()).toBeUndefined()
    expect(await store.orphans('', 9)).toEqual([])
    expect(await store.readyAgents()).toEqual([])
    expect(await store.count({})).toBe(0)
    expect(await store.commit([birth('task-1')])).toEqual([{ status: 'written' }])
    expect(await store.load('task-1')).toEqual({ records: birth('task-1').records })
  })
}

function ofTheRest(subject: Subject): void {
  const { it, expect } = subject.kit
  it('removes at most as many as asked for', async () => {
    const { store } = subject
    await store.commit(states.map((state) => birth(`task-${state}`, { state, statusAt: 1 })))
    expect(await store.pruneTasks(2, 3)).toBe(3)
    expect(await store.pruneTasks(2, 3)).toBe(1)
    await store.appendEvents('acme', [sampleEvent('1'), sampleEvent('2')], 1)
    expect(await store.pruneEvents(2, 1)).toBe(1)
    expect((await store.events('acme', 0, 9)).map(({ event }) => event.id)).toEqual(['2'])
  })

  it('removes old events and old claims, and leaves the others', async () => {
    const { store } = subject
    await store.appendEvents('acme', [sampleEvent('1')], 99)
    await store.appendEvents('acme', [sampleEvent('2')], 100)
    await store.claim(sampleClaim('task-1', { key: 'old', createdAt: 99 }))
    await store.claim(sampleClaim('task-2', { key: 'new', createdAt: 100 }))

    expect(await store.pruneEvents(100, 9)).toBe(1)
    expect(await store.pruneClaims(100, 9)).toBe(1)

    expect((await store.events(undefined, 0, 9)).map(({ event }) => event.id)).toEqual(['2'])
    expect(await store.findClaim(sampleClaim('', { key: 'old' }))).toBeUndefined()
    expect(await store.findClaim(sampleClaim('', { key: 'new' }))).toBeDefined()
  })

  it('keeps the claim of a removed task, so that a late duplicate does not start it again', async () => {
    const { store } = subject
    const claim = sampleClaim('task-1')
    await store.commit([birth('task-1', { state: 'completed' }, { claim })])
    await store.pruneTasks(2_000, 9)
    expect(await store.findClaim(claim)).toEqual(claim)
  })
}
