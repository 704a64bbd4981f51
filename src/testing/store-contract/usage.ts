import type { StoredUsage } from '../../ports/store/usage.ts'
import type { Store } from '../../ports/store.ts'
import { creation, sampleEvent, sampleMessage, sampleRow, step } from '../sample-task.ts'
import { appendDispatched, pruneTasks, type Subject } from './subject.ts'

const none: StoredUsage = { tasks: 0, openTasks: 0, bytes: 0 }

const ofAnn = async (store: Store): Promise<StoredUsage> =>
  (await store.usage('acme', 'ann')).principal
const ofAcme = async (store: Store): Promise<StoredUsage> =>
  (await store.usage('acme', 'ann')).tenant

export function usage(subject: Subject): void {
  const { it, expect } = subject.kit

  it('counts tasks and bytes per principal and per tenant, also after a restart', async () => {
    const { store } = subject
    expect(await store.usage('acme', 'ann')).toEqual({ principal: none, tenant: none })
    await store.commit([
      creation('a'),
      creation('b', { state: 'completed' }),
      creation('c', { principal: 'bob' }),
      creation('d', { tenant: 'other' }),
    ])
    const { principal, tenant } = await store.usage('acme', 'ann')
    expect([principal.tasks, principal.openTasks]).toEqual([2, 1])
    expect([tenant.tasks, tenant.openTasks]).toEqual([3, 2])
    expect(tenant.bytes > principal.bytes && principal.bytes > 0).toBe(true)
    await store.commit([step('a', 2)])
    const grown = await store.usage('acme', 'ann')
    expect(grown.principal.bytes > principal.bytes).toBe(true)
    expect(await (await subject.reopen()).usage('acme', 'ann')).toEqual(grown)
  })

  it('counts a task that ends once, and nothing of a refused commit', async () => {
    const { store } = subject
    await store.commit([creation('a')])
    const ended = { state: 'failed', statusAt: 2 } as const
    await store.commit([step('a', 2, { row: sampleRow('a', ended) })])
    await store.commit([step('a', 3, { row: sampleRow('a', { ...ended, statusAt: 3 }) })])
    const before = await ofAnn(store)
    expect([before.tasks, before.openTasks]).toEqual([1, 0])
    await store.commit([creation('a'), step('a', 9), step('unknown', 1)])
    expect(await ofAnn(store)).toEqual(before)
  })

  it('counts messages, sessions and events, and forgets everything that retention removes', async () => {
    const { store } = subject
    const of = { tenant: 'acme', principal: 'ann' } as const
    const session = { ...of, id: 's', cwd: '/', createdAt: 1, updatedAt: 1 }
    const sizes: number[] = [0]
    const grows = async (change: Promise<unknown>): Promise<void> => {
      await change
      const { bytes } = await ofAcme(store)
      expect(bytes > (sizes.at(-1) ?? 0)).toBe(true)
      sizes.push(bytes)
    }
    await grows(store.commit([creation('a', { state: 'completed', statusAt: 1 }), step('a', 2)]))
    await grows(
      store.reply(undefined, [{ ...of, contextId: 'c', at: 1, message: sampleMessage('é') }]),
    )
    await grows(store.putSession(session))
    await grows(store.putSession({ ...session, title: 'longer' }))
    const { bytes } = await ofAnn(store)
    await grows(appendDispatched(store, 'acme', [sampleEvent('1'), sampleEvent('1')], 1))
    // Unchanged, because events belong to no principal.
    expect((await ofAnn(store)).bytes).toBe(bytes)

    await pruneTasks(store, 2)
    await store.pruneContextMessages(2, 9)
    await store.pruneSessions(2, 9)
    await store.pruneEvents(2, 9)
    expect(await store.usage('acme', 'ann')).toEqual({ principal: none, tenant: none })
  })

  it('says how much space it uses', async () => {
    const { store } = subject
    await store.commit([creation('a')])
    const { usedBytes, freeBytes = 1 } = await store.space()
    expect(usedBytes > 0 && freeBytes > 0).toBe(true)
  })
}
