import type { ContextMessage } from '../../ports/store/claims.ts'
import type { Store } from '../../ports/store.ts'
import { creation, sampleClaim, sampleMessage, step } from '../sample-task.ts'
import type { Subject } from './subject.ts'

export function claims(subject: Subject): void {
  claiming(subject)
  replying(subject)
}

function claiming(subject: Subject): void {
  const { it, expect } = subject.kit
  it('gives a key to the first who claims it, and tells the others who that was', async () => {
    const { store } = subject
    expect(await store.findClaim(sampleClaim('task-1'))).toBeUndefined()
    expect(await store.claim(sampleClaim('task-1'))).toEqual(sampleClaim('task-1'))
    expect(await store.claim(sampleClaim('task-2', { digest: 'other' }))).toEqual(
      sampleClaim('task-1'),
    )
    expect(await store.findClaim(sampleClaim('task-2'))).toEqual(sampleClaim('task-1'))
  })

  it('keeps keys of different tenants, principals and agents apart', async () => {
    const { store } = subject
    await store.claim(sampleClaim('task-1'))
    for (const other of [{ tenant: 'x' }, { principal: 'x' }, { agent: 'x' }, { key: 'x' }]) {
      const claim = sampleClaim('task-2', other)
      expect(await store.findClaim(claim)).toBeUndefined()
      expect(await store.claim(claim)).toEqual(claim)
    }
  })

  it('does not create a task whose key another task has, and writes nothing of it', async () => {
    const { store } = subject
    const claim = sampleClaim('task-1')
    await store.commit([creation('task-1', {}, { claim })])

    const late = creation('task-2', { waits: ['tick'] }, { claim: sampleClaim('task-2') })
    expect(await store.commit([late, creation('task-3')])).toEqual([
      { status: 'claimed', claim },
      { status: 'written' },
    ])

    expect(await store.load('acme', 'task-2')).toBeUndefined()
    expect(await store.waiting('acme', ['tick'], '', 9)).toEqual([])
  })

  it('decides between two creations of one batch that claim the same key', async () => {
    const { store } = subject
    const claim = sampleClaim('task-1')
    const results = await store.commit([
      creation('task-1', {}, { claim }),
      creation('task-2', {}, { claim: sampleClaim('task-2') }),
    ])
    expect(results).toEqual([{ status: 'written' }, { status: 'claimed', claim }])
  })

  it('writes a message to a task under a key once, and nothing of a repeat', async () => {
    const { store } = subject
    const claim = sampleClaim('task-1', { key: 'follow-up' })
    await store.commit([creation('task-1')])
    expect(await store.commit([step('task-1', 1, { claim })])).toEqual([
      { status: 'conflict', version: 2 },
    ])
    expect(await store.findClaim(claim)).toBeUndefined()
    expect(await store.commit([step('task-1', 2, { claim })])).toEqual([{ status: 'written' }])
    expect(await store.findClaim(claim)).toEqual(claim)
    const repeat = step('task-1', 3, { claim: { ...claim, createdAt: 2_000 } })
    expect(await store.commit([repeat, step('task-1', 3)])).toEqual([
      { status: 'claimed', claim },
      { status: 'written' },
    ])
    expect(await store.records('acme', 'task-1', 0, 9)).toHaveLength(4)
  })

  it('creates the task a key was claimed for beforehand', async () => {
    const { store } = subject
    const claim = await store.claim(sampleClaim('task-1'))
    expect(await store.commit([creation('task-1', {}, { claim })])).toEqual([{ status: 'written' }])
  })
}

function replying(subject: Subject): void {
  const { it, expect } = subject.kit
  const context = { tenant: 'acme', principal: 'ann', contextId: 'c1' }
  const said = (text: string, at: number, where: Partial<ContextMessage> = {}): ContextMessage => ({
    ...context,
    ...where,
    at,
    message: sampleMessage(text),
  })

  it('keeps the reply of a claim and the exchange in its context', async () => {
    const { store } = subject
    const claim = await store.claim(sampleClaim('task-1'))
    const answered = { ...claim, reply: sampleMessage('answer') }
    const exchange = [said('question', 1), said('answer', 2)]
    await store.reply(answered, exchange)
    expect(await store.findClaim(claim)).toEqual(answered)
    expect(await messages(store, 9)).toEqual(exchange)
  })

  it('keeps an exchange nobody claimed, and a reply nobody claimed beforehand', async () => {
    const { store } = subject
    await store.reply(undefined, [said('question', 1)])
    const answered = sampleClaim('task-1', { reply: sampleMessage('answer') })
    await store.reply(answered, [said('answer', 2)])
    expect(await store.findClaim(answered)).toEqual(answered)
    expect(await store.contextMessages('acme', 'ann', 'c1', 9)).toHaveLength(2)
  })

  it('lets the first reply stand: a second one, or one to a foreign claim, writes nothing', async () => {
    const { store } = subject
    const first = sampleClaim('task-1', { reply: sampleMessage('first') })
    await store.reply(first, [said('first', 1)])
    await store.reply({ ...first, reply: sampleMessage('second') }, [said('second', 2)])
    await store.reply({ ...first, taskId: 'task-2' }, [said('foreign', 3)])
    expect(await store.findClaim(first)).toEqual(first)
    expect(await messages(store, 9)).toEqual([said('first', 1)])
  })

  it('gives the latest messages of exactly one context, oldest first', async () => {
    const { store } = subject
    await store.reply(undefined, [said('1', 1), said('2', 2), said('3', 3)])
    await store.reply(undefined, [
      said('x', 4, { tenant: 'x' }),
      said('y', 4, { principal: 'x' }),
      said('z', 4, { contextId: 'x' }),
    ])
    expect(await messages(store, 2)).toEqual([said('2', 2), said('3', 3)])
    expect(await store.contextMessages('acme', 'ann', 'nowhere', 2)).toEqual([])
  })
}

/** Messages without their positions, which differ between stores. */
async function messages(store: Store, limit: number): Promise<readonly ContextMessage[]> {
  const found = await store.contextMessages('acme', 'ann', 'c1', limit)
  return found.map(({ pos: _, ...message }) => message)
}
