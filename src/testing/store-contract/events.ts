import type { Store } from '../../ports/store.ts'
import { sampleEvent } from '../sample-task.ts'
import { appendDispatched, type Subject } from './subject.ts'

export function events(subject: Subject): void {
  positions(subject)
  names(subject)
}

function positions(subject: Subject): void {
  const { it, expect } = subject.kit
  it('gives every event a position that grows, and keeps it as it came', async () => {
    const { store } = subject
    expect(await store.eventPositions(['acme'])).toEqual([{ last: 0, oldest: 1 }])
    const event = sampleEvent('1', { subject: '7', data: { ok: true }, traceparent: '00-1' })
    const first = await store.appendEvents('acme', [event, sampleEvent('2')], 500)
    const second = await store.appendEvents('other', [sampleEvent('1')], 600)

    const given = first.map(({ pos }) => pos)
    expect([...first, ...second].every(({ fresh }) => fresh)).toBe(true)
    expect(given).toEqual([...given].sort((a, b) => a - b))
    expect(new Set(given).size).toBe(2)
    const [mine, other] = await store.eventPositions(['acme', 'other'])
    expect(mine?.oldest).toBe(given[0])
    expect((mine?.last ?? 0) >= (given[1] ?? 0)).toBe(true)
    expect(other?.oldest).toBe(second[0]?.pos)
    const [later] = await store.appendEvents('acme', [sampleEvent('3')], 700)
    expect(later?.pos).toBeGreaterThan(mine?.last ?? 0)
    expect(await store.events('acme', 0, 1)).toEqual([
      { pos: given[0], tenant: 'acme', receivedAt: 500, event },
    ])
  })

  it('knows a repeated event by source and id, within its tenant', async () => {
    const { store } = subject
    const [first] = await store.appendEvents('acme', [sampleEvent('1', { data: 1 })], 500)
    const again = await store.appendEvents(
      'acme',
      [
        sampleEvent('1', { data: 2 }),
        sampleEvent('1', { source: 'cd' }),
        sampleEvent('1', { source: 'cd' }),
      ],
      600,
    )
    expect(again.map(({ fresh }) => fresh)).toEqual([false, true, false])
    expect(again[0]?.pos).toBe(first?.pos)
    expect(again[2]?.pos).toBe(again[1]?.pos)
    expect((await store.appendEvents('other', [sampleEvent('1')], 600))[0]?.fresh).toBe(true)
    expect((await store.events('acme', 0, 9)).map(({ event }) => event.data)).toEqual([
      1,
      undefined,
    ])
  })

  it('never gives a position twice, not after removing the newest, not after a restart', async () => {
    const { store } = subject
    await appendDispatched(store, 'acme', [sampleEvent('1'), sampleEvent('2')], 500)
    const lastPos = async (of: Store) => (await of.eventPositions(['acme']))[0]?.last ?? 0
    const last = await lastPos(store)
    expect(await store.pruneEvents(501, 9)).toBe(2)
    expect(await store.eventPositions(['acme'])).toEqual([{ last, oldest: last + 1 }])

    const again = await subject.reopen()

    expect(await lastPos(again)).toBe(last)
    const [appended] = await again.appendEvents('acme', [sampleEvent('1')], 600)
    expect(appended?.fresh).toBe(true)
    expect(appended?.pos).toBeGreaterThan(last)
  })
}

function names(subject: Subject): void {
  const { it, expect } = subject.kit
  it('finds events by type and by type and subject, oldest first, in one tenant', async () => {
    const { store } = subject
    await store.appendEvents(
      'acme',
      [
        sampleEvent('1', { type: 'a' }),
        sampleEvent('2', { type: 'b', subject: '7' }),
        sampleEvent('3', { type: 'b' }),
        sampleEvent('4', { type: 'a', subject: '7' }),
        sampleEvent('5', { type: 'a:7' }),
      ],
      500,
    )
    await store.appendEvents('other', [sampleEvent('6', { type: 'a' })], 500)
    const found = async (tenant: string, after: number, limit: number, names?: string[]) =>
      (await store.events(tenant, after, limit, names)).map(({ event }) => event.id)

    expect(await found('acme', 0, 9, ['a'])).toEqual(['1', '4'])
    expect(await found('acme', 0, 9, ['a:7'])).toEqual(['4', '5'])
    expect(await found('acme', 0, 9, ['b', 'a:7', 'a'])).toEqual(['1', '2', '3', '4', '5'])
    expect(await found('acme', 0, 3, ['b', 'a'])).toEqual(['1', '2', '3'])
    expect(await found('acme', 0, 9, [])).toEqual([])
    expect(await found('acme', 0, 9)).toEqual(['1', '2', '3', '4', '5'])
    expect(await found('other', 0, 9, ['a'])).toEqual(['6'])
    expect(await found('other', 0, 9)).toEqual(['6'])
    const [, second] = await store.events('acme', 0, 2)
    expect(await found('acme', second?.pos ?? 0, 2)).toEqual(['3', '4'])
  })
}
