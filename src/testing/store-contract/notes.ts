import { sampleHold } from '../sample-task.ts'
import type { Subject } from './subject.ts'

export function notes(subject: Subject): void {
  const { it, expect } = subject.kit
  it('keeps the latest value of each key', async () => {
    const { store } = subject
    expect(await store.getValue('cursor')).toBeUndefined()
    await store.setValue('cursor', 1)
    await store.setValue('cursor', { pos: 2, of: ['a', null] })
    await store.setValue('other', null)
    expect(await store.getValue('cursor')).toEqual({ pos: 2, of: ['a', null] })
    expect(await store.getValue('other')).toBeNull()
  })

  it('replaces a value only when it is the one that was read', async () => {
    const { store } = subject
    const [first, second] = [{ list: ['a', null, 'ß\u0000'] }, { list: [], n: 1.5 }]
    expect(await store.replaceValue('keys', first, second)).toBe(false)
    expect(await store.getValue('keys')).toBeUndefined()
    expect(await store.replaceValue('keys', undefined, first)).toBe(true)
    expect(await store.replaceValue('keys', undefined, second)).toBe(false)
    expect(await store.replaceValue('keys', second, first)).toBe(false)
    expect(await store.getValue('keys')).toEqual(first)
    const read = await store.getValue('keys')
    expect(await store.replaceValue('keys', read, second)).toBe(true)
    expect(await store.getValue('keys')).toEqual(second)
  })

  it('keeps holds until they are lifted, oldest first; lifted ones are shown on request', async () => {
    const { store } = subject
    const late = sampleHold('hold-1', { createdAt: 20, scope: { tenant: 'acme', agent: 'travel' } })
    const early = sampleHold('hold-2', { createdAt: 10, holdNew: true })
    await store.putHold(late)
    await store.putHold(early)
    await store.putHold(early)
    expect(await store.holds()).toEqual([early, late])

    const lifted = { ...early, liftedAt: 30 }
    await store.putHold(lifted)
    expect(await store.holds()).toEqual([late])
    expect(await store.holds(true)).toEqual([lifted, late])
  })

  it('keeps both across a restart', async () => {
    await subject.store.setValue('cursor', 7)
    await subject.store.putHold(sampleHold('hold-1'))
    const again = await subject.reopen()
    expect(await again.getValue('cursor')).toBe(7)
    expect(await again.holds()).toEqual([sampleHold('hold-1')])
  })
}
