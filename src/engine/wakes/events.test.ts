/** An event and a park that race never miss, and no event wakes a task twice (V1, V2, V4 in events.ts). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { EngineOptions } from '../options.ts'
import {
  alice,
  createHarness,
  dataOf,
  echo,
  running,
  signal,
} from '../test-support/engine-harness.ts'
import { createFaultyStore } from '../test-support/faulty-store.ts'

const settings: readonly [string, Partial<EngineOptions>][] = [
  ['warm', {}],
  ['cold', { warmForMs: 0, cachedTasks: 1 }],
]

/** Parks for one tick after the other, and keeps the number of each. */
const counter = (times: number) =>
  running(async (task) => {
    const seen: number[] = []
    for (let n = 0; n < times; n++) {
      const { event } = await task.park({ reason: `${n}`, onEvent: 'tick' })
      seen.push((event as { data: number }).data)
    }
    await task.artifact({ name: 'seen', data: seen })
  })

describe.each(settings)('events for %s tasks', (_name, options) => {
  it('V1: each wake exactly one park of each task, in order, however they race', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 8 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        async (pauses, tasks, dies) => {
          let harness = await createHarness({ agents: [counter(pauses.length)], options })
          const sent = await Promise.all(
            Array.from({ length: tasks }, (_, n) => harness.send(`${n}`)),
          )
          for (const [n, turns] of pauses.entries()) {
            const event = { id: `${n}`, source: 'clock', type: 'tick', data: n }
            const both = [harness.engine.emit(alice, [event]), harness.engine.emit(alice, [event])]
            const answers = await Promise.all(both)
            expect(answers.flat().filter(({ fresh }) => fresh)).toHaveLength(1)
            for (let turn = 0; turn < turns; turn++) await new Promise((go) => setImmediate(go))
            if (dies && n === 1) harness = await harness.recover()
          }
          await harness.settled()
          for (const { id } of sent) {
            const task = await harness.get(id)
            expect(task.state).toBe('completed')
            expect(dataOf(task, 'seen')).toEqual(pauses.map((_, n) => n))
          }
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('an event', () => {
  it('is answered when every waiting task was offered the event', async () => {
    const harness = await createHarness({ agents: [counter(1)] })
    const sent = await Promise.all(Array.from({ length: 300 }, (_, n) => harness.send(`${n}`)))
    for (const { id } of sent) await harness.until(id, 'paused-by-agent')
    await harness.emit('tick', { data: 7 })
    for (const { id } of sent) expect((await harness.get(id)).suspension).toBeUndefined()
  })

  it('that was not offered to every task is offered again, and wakes each task once', async () => {
    const faulty = createFaultyStore()
    const harness = await createHarness({ agents: [counter(2)], store: faulty.store })
    const [one, two] = await Promise.all([harness.send('1'), harness.send('2')])
    await harness.until(one.id, 'paused-by-agent')
    await harness.until(two.id, 'paused-by-agent')
    faulty.refuses = ({ taskId }) => taskId === two.id
    await harness.emit('tick', { data: 1 })
    await harness.pass(1_500)
    expect((await harness.get(one.id)).epoch).toBe(2)
    expect((await harness.get(two.id)).epoch).toBe(1)
    faulty.refuses = () => false
    await harness.pass(1_500)
    expect((await harness.get(two.id)).epoch).toBe(2)
    expect((await harness.get(one.id)).epoch).toBe(2)
  })

  it('is removed after its time, and a task that parks later does not see it', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await task.park({ reason: 'first' })
          await task.park({ reason: 'second', onEvent: 'old' })
        }),
      ],
      options: { eventsForMs: 1_000 },
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.emit('old')
    await harness.pass(2_000)
    expect(await harness.engine.prune()).toMatchObject({ events: 1 })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, (task) => task.epoch === 2)
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-agent')
  })

  it('V4: is forgotten by the task it woke once it is removed, before and after a restart', async () => {
    let harness = await createHarness({ agents: [counter(9)], options: { eventsForMs: 1_000 } })
    const { id } = await harness.send('go')
    const wake = async (data: number): Promise<readonly number[]> => {
      const { epoch } = await harness.until(id, 'paused-by-agent')
      await harness.emit('tick', { data })
      return (await harness.until(id, (task) => task.epoch > epoch)).consumed
    }
    expect(await wake(1)).toEqual([1])
    expect(await wake(2)).toEqual([1, 2])
    await harness.pass(2_000)
    await harness.engine.prune()
    expect(await wake(3)).toEqual([3])
    await harness.pass(2_000)
    await harness.engine.prune()
    harness = await harness.recover()
    expect(await wake(4)).toEqual([4])
  })

  it('counts as before a task that was requested earlier and created later', async () => {
    const inner = createMemoryStore()
    const [asked, go] = [signal(), signal()]
    const findClaim: typeof inner.findClaim = async (key) => {
      asked.fire()
      await go.promise
      return inner.findClaim(key)
    }
    const harness = await createHarness({ agents: [echo], store: { ...inner, findClaim } })
    const sending = harness.send('hello', { idempotencyKey: 'key' })
    await asked.promise
    await harness.emit('go')
    go.fire()
    const { id } = await sending
    expect((await harness.log(id))[0]).toMatchObject({ type: 'submitted', eventsAfter: 1 })
  })
})
