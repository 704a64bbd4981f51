import { RESERVED_MS } from '../../ports/store/cluster.ts'
import type { EventKey } from '../../ports/store/events.ts'
import { creation, sampleClaim, sampleEvent, step } from '../sample-task.ts'
import { type Subject, two } from './subject.ts'

/** An event of the tenant that these tests use. */
function of(pos: number): EventKey {
  return { tenant: 'acme', pos }
}

export function clusterEvents(subject: Subject): void {
  dispatch(subject)
  positions(subject)
}

function dispatch(subject: Subject): void {
  const { it, expect } = subject.kit
  it('hands an event that nobody told to one process, after its sender had time', async () => {
    const { a, b, pass } = await two(subject)
    const stored = await a.appendEvents('acme', [sampleEvent('1'), sampleEvent('2')], 500)
    const [first = 0, second = 0] = stored.map(({ pos }) => pos)
    expect(await b.cluster.undispatchedEvents(9)).toEqual([])
    await a.cluster.markDispatched([of(first)])
    await pass(RESERVED_MS)
    const undispatched = await b.cluster.undispatchedEvents(9)
    expect(undispatched).toEqual([
      { pos: second, tenant: 'acme', receivedAt: 500, event: sampleEvent('2') },
    ])
    expect(await a.cluster.undispatchedEvents(9)).toEqual([])
    await pass(RESERVED_MS)
    expect(await a.cluster.undispatchedEvents(9)).toHaveLength(1)
    await a.cluster.markDispatched([of(second)])
    await pass(RESERVED_MS)
    expect(await b.cluster.undispatchedEvents(9)).toEqual([])
    await b.appendEvents('acme', [sampleEvent('1')], 600)
    await pass(RESERVED_MS)
    expect(await b.cluster.undispatchedEvents(9)).toEqual([])
  })

  it('hands an event to nobody while its reservation is renewed', async () => {
    const { a, b, pass } = await two(subject)
    const [stored] = await a.appendEvents('acme', [sampleEvent('1')], 500)
    const pos = stored?.pos ?? 0
    await pass(RESERVED_MS / 2)
    await a.cluster.reserveEvents([of(pos)])
    await pass(RESERVED_MS / 2 + 1_000)
    expect(await b.cluster.undispatchedEvents(9)).toEqual([])
    await pass(RESERVED_MS)
    expect((await b.cluster.undispatchedEvents(9)).map((event) => event.pos)).toEqual([pos])
    await b.cluster.markDispatched([of(pos)])
    await a.cluster.reserveEvents([of(pos)])
    await pass(RESERVED_MS)
    expect(await b.cluster.undispatchedEvents(9)).toEqual([])
  })

  it('removes an old event only after it was dispatched, also one that a process has reserved', async () => {
    const { a, b, pass } = await two(subject)
    const sent = ['1', '2', '3'].map((id) => sampleEvent(id))
    const stored = await a.appendEvents('acme', sent, 500)
    const [first = 0, second = 0, third = 0] = stored.map(({ pos }) => pos)
    expect(await b.pruneEvents(501, 9)).toBe(0)
    await a.cluster.markDispatched([of(second)])
    await pass(RESERVED_MS)
    expect(await b.pruneEvents(501, 1)).toBe(1)
    const reserved = await a.cluster.undispatchedEvents(9)
    expect(reserved.map(({ pos }) => pos)).toEqual([first, third])
    expect(await b.pruneEvents(501, 9)).toBe(0)
    await pass(RESERVED_MS)
    expect(await b.cluster.undispatchedEvents(9)).toEqual(reserved)
    await b.cluster.markDispatched([of(first), of(third)])
    expect(await a.pruneEvents(501, 9)).toBe(2)
    expect(await a.events('acme', 0, 9)).toEqual([])
  })
}

function positions(subject: Subject): void {
  const { it, expect } = subject.kit
  it('never shows an event below one that was seen before', async () => {
    const { a, b } = await two(subject)
    const sent: Promise<unknown>[] = []
    const seen: number[] = []
    for (let round = 0; round < 20; round++) {
      const batch = [1, 2, 3].map((one) => sampleEvent(`${round}-${one}`))
      sent.push((round % 2 === 0 ? a : b).appendEvents('acme', batch, 500))
      const page = await b.events('acme', seen.at(-1) ?? 0, 99)
      seen.push(...page.map(({ pos }) => pos))
    }
    await Promise.all(sent)
    const rest = await b.events('acme', seen.at(-1) ?? 0, 99)
    const all = (await a.events('acme', 0, 99)).map(({ pos }) => pos)
    expect([...seen, ...rest.map(({ pos }) => pos)]).toEqual(all)
    expect(all).toHaveLength(60)
  })

  it('gives positions to each tenant by itself, and compares a commit with those of its tenant', async () => {
    const { a, b } = await two(subject)
    const sent = ['1', '2', '3'].map((id) => sampleEvent(id))
    await a.appendEvents('other', sent, 500)
    const [given] = await b.appendEvents('acme', sent.slice(0, 1), 500)
    const next = (given?.pos ?? 0) + 1
    expect(await b.commit([creation('task-1', {}, { eventPos: next })])).toEqual([
      { status: 'outdated' },
    ])
    expect(await b.commit([creation('task-2', { tenant: 'other' }, { eventPos: next })])).toEqual([
      { status: 'written' },
    ])
  })

  it('refuses a commit that names an event position which no event has got', async () => {
    const { a, b } = await two(subject)
    const { epoch: holdEpoch } = await b.cluster.holdsInEffect()
    const [given] = await a.appendEvents('acme', [sampleEvent('1')], 500)
    const eventPos = given?.pos ?? 0
    const claim = sampleClaim('task-2')
    const written = { status: 'written' }
    expect(
      await b.commit([
        creation('task-1', {}, { eventPos, holdEpoch }),
        creation('task-2', {}, { eventPos: eventPos + 1, claim }),
        creation('task-3'),
      ]),
    ).toEqual([written, { status: 'outdated' }, written])
    expect(await b.load('acme', 'task-2')).toBeUndefined()
    expect(await b.findClaim(claim)).toBeUndefined()
    expect(await b.commit([step('task-1', 1, { eventPos: eventPos + 1 })])).toEqual([
      { status: 'conflict', version: 2 },
    ])
    await a.appendEvents('acme', [sampleEvent('2')], 500)
    expect(await b.commit([creation('task-2', {}, { eventPos: eventPos + 1, claim })])).toEqual([
      written,
    ])
  })
}
