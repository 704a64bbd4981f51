import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EventFilter, passes } from '../../core/waiting/conditions.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createHarness, running } from '../test-support/engine-harness.ts'

/** Parks for what its message says. */
const waiter = running(async (task) => {
  const filter = JSON.parse(task.text) as EventFilter
  await task.park({ reason: 'x', trigger: { filter } })
})

describe('filters that fix no type', () => {
  it('are compared before any task is read or written, however many tasks wait', async () => {
    const inner = createMemoryStore()
    const calls: string[] = []
    const counted = new Proxy(inner, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver)
        if (typeof member !== 'function') return member
        return (...args: readonly unknown[]): unknown => {
          calls.push(String(name))
          return Reflect.apply(member, target, args)
        }
      },
    })
    const harness = await createHarness({
      agents: [waiter],
      store: counted,
      options: { concurrency: 1_000, warmForMs: 0, cachedTasks: 1 },
    })
    const sent = await Promise.all(
      Array.from({ length: 600 }, (_, n) => harness.send(`{"exact":{"subject":"s${n % 300}"}}`)),
    )
    for (const { id } of sent) await harness.until(id, 'paused-by-agent')
    calls.length = 0
    await harness.emit('tick', { subject: 'nobody' })
    expect(calls.filter((name) => name === 'load' || name === 'commit')).toEqual([])
    await harness.emit('tick', { subject: 's7' })
    expect(calls.filter((name) => name === 'load')).toHaveLength(2)
    const states = await Promise.all(
      [7, 307, 8].map((n) => harness.until(sent[n]?.id ?? '', () => true)),
    )
    expect(states.map(({ suspension }) => suspension === undefined)).toEqual([true, true, false])
  })

  it('wake exactly the tasks whose filter the event passes', async () => {
    const text = fc.constantFrom('a', 'b', 'ab', 'ba')
    const leaf = fc.oneof(
      fc.record({ exact: fc.record({ subject: text }) }),
      fc.record({ prefix: fc.record({ type: text }) }),
      fc.record({ suffix: fc.record({ subject: text, type: text }) }),
      fc.record({ exact: fc.record({ type: text }) }),
    )
    const filter: fc.Arbitrary<EventFilter> = fc.oneof(
      leaf,
      fc.record({ not: leaf }),
      fc.record({ any: fc.array(leaf, { minLength: 1, maxLength: 3 }) }),
      fc.record({ all: fc.array(leaf, { minLength: 1, maxLength: 3 }) }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(filter, { maxLength: 8 }),
        text,
        text,
        async (filters, type, subject) => {
          const harness = await createHarness({ agents: [waiter] })
          const sent = await Promise.all(filters.map((one) => harness.send(JSON.stringify(one))))
          for (const { id } of sent) await harness.until(id, 'paused-by-agent')
          await harness.emit(type, { subject })
          await harness.settled()
          for (const [n, { id }] of sent.entries()) {
            const woken = (await harness.get(id)).state === 'completed'
            const event = { id: '1', source: 's', type, subject }
            expect(woken).toBe(passes(filters[n] as EventFilter, event))
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  it('too long to be a name wake their tasks too', async () => {
    const harness = await createHarness({ agents: [waiter] })
    const long = 'x'.repeat(100)
    const any = Array.from({ length: 40 }, (_, n) => ({ prefix: { type: `${long}${n}.` } }))
    const { id } = await harness.send(JSON.stringify({ any }))
    await harness.until(id, 'paused-by-agent')
    await harness.emit('other')
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.emit(`${long}39.x`)
    await harness.until(id, 'completed')
  })
})
