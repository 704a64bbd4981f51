import { RESERVED_MS } from '../../ports/store/cluster.ts'
import { creation, sampleRow, step } from '../sample-task.ts'
import type { Subject } from './subject.ts'

export function work(subject: Subject): void {
  runnable(subject)
  waiting(subject)
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
    expect(await store.ready('travel', 1)).toEqual(['task-2'])
    await subject.cluster?.pass(RESERVED_MS)
    expect(await store.ready('travel', 9)).toEqual(['task-2', 'task-5', 'task-1'])
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
    // A shared store decides by leases (store-contract/cluster.ts).
    if (store.cluster !== undefined) return
    const found = [...(await store.orphans('worker-2', 9))].sort((a, b) =>
      a.taskId < b.taskId ? -1 : 1,
    )
    expect(found).toEqual([
      { taskId: 'task-1', owner: 'worker-1' },
      { taskId: 'task-3', owner: 'worker-3' },
    ])
    expect(await store.orphans('worker-2', 1)).toHaveLength(1)
    expect(await store.orphans('worker-9', 9)).toHaveLength(3)
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
    expect(await store.due(200, 9)).toEqual(['task-2', 'task-3'])
    await subject.cluster?.pass(RESERVED_MS)
    expect(await store.due(1_000, 2)).toEqual(['task-2', 'task-3'])
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
}
