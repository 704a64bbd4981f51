/** Events that a dead process left undispatched (V2, V3, V6 in events.ts, R4 in retention.ts). */
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import type { Caller } from '../../caller.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  type HarnessOptions,
  message,
  running,
  signal,
} from '../../test-support/engine-harness.ts'

const bob: Caller = { tenant: 'other', principal: 'bob' }
const root: Caller = { tenant: '*', principal: 'root', operator: true }

/** Parks for a tick, at most for an hour, and keeps what woke it. */
const waiter = running(async (task) => {
  const { cause, event } = await task.park({
    reason: 'x',
    onEvent: 'tick',
    timeout: { durationMinutes: 60, onTimeout: 'resume_with_summary' },
  })
  const data = event !== undefined && 'source' in event ? event.id : null
  await task.artifact({ name: 'woken', data: [cause, data] })
})

const tick = (data: string) => ({ id: data, source: 'test', type: 'tick', data })

/** Two tenants with a task each. Both have events that are acknowledged and not dispatched. */
async function dying() {
  const inner = createMemoryStore()
  const first = await createHarness({ agents: [waiter], store: inner })
  const send = async (caller: Caller): Promise<string> => {
    const sent = await first.engine.send(caller, { message: message('go') })
    const { id } = sent.kind === 'task' ? sent.task : { id: '' }
    await first.engine.waitFor(root, id, (task) => task.state === 'paused-by-agent')
    return id
  }
  const [ofAlice, ofBob] = [await send(alice), await send(bob)]
  // After this, no process looks back for these stops any more.
  await first.pass(120_000)
  const second = await first.restart()
  second.crash()
  await inner.appendEvents('acme', [tick('a-1'), tick('a-2')], first.clock.now())
  await inner.appendEvents('other', [tick('b-1')], first.clock.now())
  const go = signal()
  /** The backlog of the first tenant is not read before `go`. A task that looks back names the types that it waits for. */
  const events: typeof inner.events = async (tenant, after, limit, names) => {
    if (tenant === 'acme' && names === undefined) await go.promise
    return inner.events(tenant, after, limit, names)
  }
  const { clock } = first
  const next = (options: HarnessOptions['options'] = {}): Promise<Harness> =>
    createHarness({ agents: [waiter], store: { ...inner, events }, clock, options })
  const wokenBy = async (harness: Harness, id: string): Promise<unknown> =>
    dataOf(await harness.engine.waitFor(root, id, ({ state }) => state === 'completed'), 'woken')
  return { inner, clock, go, next, wokenBy, ofAlice, ofBob }
}

describe('events that a dead process left', () => {
  it('V6: of one tenant hold up neither the start nor the events of another tenant', async () => {
    const { next, wokenBy, go, ofAlice, ofBob } = await dying()
    const harness = await next()
    expect(await wokenBy(harness, ofBob)).toEqual(['condition_fired', 'b-1'])
    expect((await harness.get(ofAlice)).state).toBe('paused-by-agent')
    go.fire()
    expect(await wokenBy(harness, ofAlice)).toEqual(['condition_fired', 'a-1'])
  })

  it('V3 V6: come before a later event that is dispatched earlier', async () => {
    const { next, wokenBy, ofAlice } = await dying()
    const harness = await next()
    await harness.engine.emit(alice, [tick('a-3')])
    expect(await wokenBy(harness, ofAlice)).toEqual(['condition_fired', 'a-1'])
  })

  it('V6: come before a deadline that passed meanwhile', async () => {
    const { next, wokenBy, clock, ofAlice } = await dying()
    clock.advance(2 * 3_600_000)
    expect(await wokenBy(await next(), ofAlice)).toEqual(['condition_fired', 'a-1'])
  })

  it('R4: are dispatched also when they are older than events are kept', async () => {
    const { next, wokenBy, go, clock, ofAlice } = await dying()
    clock.advance(120_000)
    const harness = await next({ eventsForMs: 60_000 })
    expect(await harness.engine.prune()).toMatchObject({ events: 0 })
    go.fire()
    expect(await wokenBy(harness, ofAlice)).toEqual(['condition_fired', 'a-1'])
    await harness.settled()
    expect(await harness.engine.prune()).toMatchObject({ events: 3 })
  })

  it('V2: are dispatched also when the next process dies before it has done so', async () => {
    const { next, wokenBy, go, inner, ofAlice } = await dying()
    const second = await next()
    await second.engine.emit(bob, [tick('b-2')])
    await second.pass(5_000)
    second.crash()
    go.fire()
    expect((await inner.row('acme', ofAlice))?.state).toBe('paused-by-agent')
    expect(await wokenBy(await next(), ofAlice)).toEqual(['condition_fired', 'a-1'])
  })

  it('V2: are dispatched also when the process stops in order before it has done so', async () => {
    const { next, wokenBy, go, ofAlice } = await dying()
    const second = await next()
    const draining = second.engine.drain({ timeoutMs: 0 })
    await second.pass(5_000)
    await draining
    second.crash()
    go.fire()
    expect(await wokenBy(await next(), ofAlice)).toEqual(['condition_fired', 'a-1'])
  })

  it('V2: are dispatched after a failed read of the store', async () => {
    const { inner, clock, wokenBy, ofAlice } = await dying()
    let fails = true
    const events: typeof inner.events = async (...query) => {
      if (fails && query[0] === 'acme') throw new Error('no')
      return inner.events(...query)
    }
    const harness = await createHarness({ agents: [waiter], store: { ...inner, events }, clock })
    await harness.settled()
    fails = false
    await harness.pass(1_500)
    expect(await wokenBy(harness, ofAlice)).toEqual(['condition_fired', 'a-1'])
  })
})

describe('an event whose dispatch fails', () => {
  it('R4: is kept until it is dispatched, and the dispatched events before it are not', async () => {
    const inner = createMemoryStore()
    let fails = false
    const waiting: typeof inner.waiting = async (...query) => {
      if (fails) throw new Error('no')
      return inner.waiting(...query)
    }
    const store = { ...inner, waiting }
    const options = { eventsForMs: 60_000 }
    const first = await createHarness({ agents: [waiter], store, options })
    await first.engine.emit(alice, [tick('early')])
    const { id } = await first.send('go')
    await first.until(id, 'paused-by-agent')
    await first.pass(120_000)
    fails = true
    await first.engine.emit(alice, [tick('late')])
    first.clock.advance(120_000)
    expect(await first.engine.prune()).toMatchObject({ events: 1 })
    first.crash()
    fails = false
    const next = await createHarness({ agents: [waiter], store, clock: first.clock, options })
    const woken = await next.until(id, 'completed')
    expect(dataOf(woken, 'woken')).toEqual(['condition_fired', 'late'])
  })
})
