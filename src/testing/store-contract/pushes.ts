import type { Push } from '../../core/push.ts'
import { creation } from '../sample-task.ts'
import { pruneTasks, type Subject } from './subject.ts'

export const samplePush = (taskId: string, id: string, some: Partial<Push> = {}): Push => ({
  taskId,
  owner: { tenant: 'acme', principal: 'ann' },
  id,
  url: 'https://example.com/hook',
  version: '1.0',
  createdAt: 1,
  sentSeq: 0,
  attempts: 0,
  ...some,
})

export function pushes(subject: Subject): void {
  ofWrites(subject)
  ofCommits(subject)
  ofLists(subject)
}

function ofWrites(subject: Subject): void {
  const { it, expect } = subject.kit
  it('keeps webhooks by task and id, the latest of each, until they are deleted', async () => {
    const { store } = subject
    const authentication = { scheme: 'Bearer', credentials: 's3cret' }
    await store.putPush(samplePush('task-1', 'b'))
    await store.putPush(samplePush('task-1', 'a', { token: 't', authentication }))
    await store.putPush(samplePush('task-2', 'a'))
    await store.putPush(samplePush('task-1', 'b', { sentSeq: 7 }))
    expect(await store.pushes('acme', 'task-1')).toEqual([
      samplePush('task-1', 'a', { token: 't', authentication }),
      samplePush('task-1', 'b', { sentSeq: 7 }),
    ])

    await store.deletePush('acme', 'task-1', 'a')
    await store.deletePush('acme', 'task-1', 'a')
    expect((await store.pushes('acme', 'task-1')).map((push) => push.id)).toEqual(['b'])
    expect((await store.pushes('acme', 'task-2')).map((push) => push.id)).toEqual(['a'])
    expect(await store.pushes('acme', 'task-3')).toEqual([])
  })

  it('replaces a webhook only if it is the expected one', async () => {
    const { store } = subject
    const [first, second] = [samplePush('task-1', 'a'), samplePush('task-1', 'a', { sentSeq: 2 })]
    expect(await store.replacePush(first, second)).toBe(false)
    expect(await store.pushes('acme', 'task-1')).toEqual([])
    await store.putPush(first)
    expect(await store.replacePush(second, first)).toBe(false)
    expect(await store.replacePush(first, second)).toBe(true)
    expect(await store.replacePush(first, samplePush('task-1', 'a', { sentSeq: 1 }))).toBe(false)
    const [read = first] = await store.pushes('acme', 'task-1')
    expect(read).toEqual(second)
    expect(await store.replacePush(read, { ...read, done: true })).toBe(true)
    expect(await store.listPushes('open', undefined, 9)).toEqual([])
    expect(await store.pushes('acme', 'task-1')).toEqual([{ ...second, done: true }])
  })
}

function ofCommits(subject: Subject): void {
  const { it, expect } = subject.kit
  it('replaces a webhook that came with a commit', async () => {
    const { store } = subject
    const error = 'a \u0000 and \ud800'
    const made = samplePush('task-1', 'a', { error, owner: { tenant: 'acme', principal: 'p' } })
    await store.commit([creation('task-1', {}, { pushes: [made] })])
    const [read = made] = await store.pushes('acme', 'task-1')
    expect(await store.replacePush(read, { ...read, sentSeq: 3 })).toBe(true)
    expect(await store.pushes('acme', 'task-1')).toEqual([{ ...made, sentSeq: 3 }])
  })

  it('keeps webhooks that come with a commit if that is written, and only then', async () => {
    const { store } = subject
    const first = samplePush('task-1', 'a')
    expect(await store.commit([creation('task-1', {}, { pushes: [first] })])).toEqual([
      { status: 'written' },
    ])
    const late = creation('task-1', {}, { pushes: [samplePush('task-1', 'b')] })
    const malformed = creation('task-2', {}, { records: [], pushes: [samplePush('task-2', 'a')] })
    const results = await store.commit([late, malformed])
    expect(results.map(({ status }) => status)).toEqual(['conflict', 'failed'])

    const again = await subject.reopen()
    expect(await again.pushes('acme', 'task-1')).toEqual([first])
    expect(await again.listPushes('open', undefined, 9)).toEqual([first])
  })
}

function ofLists(subject: Subject): void {
  const { it, expect } = subject.kit
  it('lists those that are open and those that were given up, page by page', async () => {
    const { store } = subject
    await store.putPush(samplePush('task-1', 'a'))
    await store.putPush(samplePush('task-1', 'b', { done: true }))
    await store.putPush(samplePush('task-2', 'a', { failedAt: 5, error: 'gone' }))
    await store.putPush(samplePush('task-3', 'a', { retryAt: 9 }))

    const first = await store.listPushes('open', undefined, 1)
    expect(first).toEqual([samplePush('task-1', 'a')])
    const rest = await store.listPushes('open', first[0], 9)
    expect(rest).toEqual([samplePush('task-3', 'a', { retryAt: 9 })])
    expect(await store.listPushes('open', rest[0], 9)).toEqual([])
    expect((await store.listPushes('failed', undefined, 9)).map((push) => push.taskId)).toEqual([
      'task-2',
    ])
  })

  it('keeps them across a restart and forgets them with their task', async () => {
    await subject.store.commit([creation('task-1', { state: 'completed', statusAt: 1 })])
    await subject.store.putPush(samplePush('task-1', 'a', { done: true }))
    const again = await subject.reopen()
    expect(await again.pushes('acme', 'task-1')).toEqual([
      samplePush('task-1', 'a', { done: true }),
    ])
    await pruneTasks(again, 2)
    expect(await again.pushes('acme', 'task-1')).toEqual([])
    expect(await again.listPushes('open', undefined, 9)).toEqual([])
  })
}
