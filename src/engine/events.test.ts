/** An event and a park that race never miss, and no event wakes a task twice (V1, V2, V4 in events.ts). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../stores/memory/memory-store.ts'
import type { EngineOptions } from './options.ts'
import { createFaultyStore } from './test-support/faulty-store.ts'
import { alice, createWorld, dataOf, echo, running, signal } from './test-support/world.ts'

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
          let world = await createWorld({ agents: [counter(pauses.length)], options })
          const sent = await Promise.all(
            Array.from({ length: tasks }, (_, n) => world.send(`${n}`)),
          )
          for (const [n, turns] of pauses.entries()) {
            const event = { id: `${n}`, source: 'clock', type: 'tick', data: n }
            const both = [world.engine.emit(alice, [event]), world.engine.emit(alice, [event])]
            const answers = await Promise.all(both)
            expect(answers.flat().filter(({ fresh }) => fresh)).toHaveLength(1)
            for (let turn = 0; turn < turns; turn++) await new Promise((go) => setImmediate(go))
            if (dies && n === 1) world = await world.recover()
          }
          await world.settled()
          for (const { id } of sent) {
            const task = await world.get(id)
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
  it('is answered when everyone who waited has been told', async () => {
    const world = await createWorld({ agents: [counter(1)] })
    const sent = await Promise.all(Array.from({ length: 300 }, (_, n) => world.send(`${n}`)))
    for (const { id } of sent) await world.until(id, 'paused-by-agent')
    await world.emit('tick', { data: 7 })
    for (const { id } of sent) expect((await world.get(id)).suspension).toBeUndefined()
  })

  it('that could not be told to everyone is told again, and each task hears it once', async () => {
    const faulty = createFaultyStore()
    const world = await createWorld({ agents: [counter(2)], store: faulty.store })
    const [one, two] = await Promise.all([world.send('1'), world.send('2')])
    await world.until(one.id, 'paused-by-agent')
    await world.until(two.id, 'paused-by-agent')
    faulty.refuses = ({ taskId }) => taskId === two.id
    await world.emit('tick', { data: 1 })
    await world.pass(1_500)
    expect((await world.get(one.id)).epoch).toBe(2)
    expect((await world.get(two.id)).epoch).toBe(1)
    faulty.refuses = () => false
    await world.pass(1_500)
    expect((await world.get(two.id)).epoch).toBe(2)
    expect((await world.get(one.id)).epoch).toBe(2)
  })

  it('is removed after its time, and a task that parks later does not see it', async () => {
    const world = await createWorld({
      agents: [
        running(async (task) => {
          await task.park({ reason: 'first' })
          await task.park({ reason: 'second', onEvent: 'old' })
        }),
      ],
      options: { eventsForMs: 1_000 },
    })
    const { id } = await world.send('go')
    await world.until(id, 'paused-by-agent')
    await world.emit('old')
    await world.pass(2_000)
    expect(await world.engine.prune()).toMatchObject({ events: 1 })
    await world.engine.resume(alice, { taskId: id })
    await world.until(id, (task) => task.epoch === 2)
    await world.settled()
    expect((await world.get(id)).state).toBe('paused-by-agent')
  })

  it('V4: is forgotten by the task it woke once it is removed, before and after a restart', async () => {
    let world = await createWorld({ agents: [counter(9)], options: { eventsForMs: 1_000 } })
    const { id } = await world.send('go')
    const wake = async (data: number): Promise<readonly number[]> => {
      const { epoch } = await world.until(id, 'paused-by-agent')
      await world.emit('tick', { data })
      return (await world.until(id, (task) => task.epoch > epoch)).consumed
    }
    expect(await wake(1)).toEqual([1])
    expect(await wake(2)).toEqual([1, 2])
    await world.pass(2_000)
    await world.engine.prune()
    expect(await wake(3)).toEqual([3])
    await world.pass(2_000)
    await world.engine.prune()
    world = await world.recover()
    expect(await wake(4)).toEqual([4])
  })

  it('counts as before a task that was asked for earlier and born later', async () => {
    const inner = createMemoryStore()
    const [asked, go] = [signal(), signal()]
    const findClaim: typeof inner.findClaim = async (key) => {
      asked.fire()
      await go.promise
      return inner.findClaim(key)
    }
    const world = await createWorld({ agents: [echo], store: { ...inner, findClaim } })
    const sending = world.send('hello', { idempotencyKey: 'key' })
    await asked.promise
    await world.emit('go')
    go.fire()
    const { id } = await sending
    expect((await world.log(id))[0]).toMatchObject({ type: 'submitted', eventsAfter: 1 })
  })
})
