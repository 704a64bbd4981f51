import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { alice, createWorld, effects, running } from '../test-support/world.ts'
import { createWarm } from './warm.ts'

const MINUTE = 60_000

describe('a stopped run', () => {
  const parker = (begun = effects()) =>
    running(async (task) => {
      begun.note('begin')
      await task.park({ reason: 'x' })
    })

  it('goes on from the same frame while it is warm, and is rebuilt after that', async () => {
    const begun = effects()
    const world = await createWorld({ agents: [parker(begun)] })
    const warm = await world.send('warm')
    await world.until(warm.id, 'paused-by-agent')
    await world.pass(MINUTE - 1)
    expect((await world.engine.health()).runs).toEqual({ live: 1, warm: 1, busy: 0 })
    await world.engine.resume(alice, { taskId: warm.id })
    await world.until(warm.id, 'completed')
    expect(begun.count('begin')).toBe(1)

    const cold = await world.send('cold')
    await world.until(cold.id, 'paused-by-agent')
    await world.pass(MINUTE)
    expect((await world.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
    await world.engine.resume(alice, { taskId: cold.id })
    await world.until(cold.id, 'completed')
    expect(begun.count('begin')).toBe(3)
  })

  it('leaves memory earlier when it is short, the longest stopped first', async () => {
    let used = 0
    const world = await createWorld({
      agents: [parker()],
      options: { memoryLimitBytes: 100 },
      usedBytes: () => used,
    })
    for (let n = 0; n < 8; n++) {
      const { id } = await world.send(`${n}`)
      await world.until(id, 'paused-by-agent')
      world.clock.advance(1)
    }
    expect((await world.engine.health()).runs.warm).toBe(8)
    used = 200
    await world.pass(1_000)
    expect((await world.engine.health()).runs.warm).toBe(4)
    await world.pass(1_000)
    expect((await world.engine.health()).runs.warm).toBe(2)
    used = 0
    await world.pass(1_000)
    expect((await world.engine.health()).runs.warm).toBe(2)
  })

  it('that leaves memory is told so by its signal, and by nothing else', async () => {
    const seen = effects()
    const world = await createWorld({
      agents: [
        running(async (task) => {
          task.signal.addEventListener('abort', () => seen.note('signal'))
          try {
            await task.park({ reason: 'x' })
          } catch {
            seen.note('catch')
          } finally {
            seen.note('finally')
          }
        }),
      ],
    })
    const { id } = await world.send('go')
    await world.until(id, 'paused-by-agent')
    await world.pass(MINUTE)
    await world.settled()
    expect(seen.list).toEqual(['signal'])
  })
})

describe('the list of warm runs', () => {
  it('gives up each after its time, also when others came in between, and none that was removed', () => {
    const clock = createManualClock()
    const gone: string[] = []
    const options = { warmForMs: 10_000, memoryLimitBytes: 1 }
    const warm = createWarm(clock, { usedBytes: () => 0 }, options, (id) => gone.push(id))
    warm.add('a')
    clock.advance(4_000)
    warm.add('b')
    warm.add('c')
    clock.advance(4_000)
    warm.add('b')
    warm.remove('c')
    clock.advance(2_000)
    expect(gone).toEqual(['a'])
    clock.advance(7_999)
    expect(gone).toEqual(['a'])
    clock.advance(1)
    expect(gone).toEqual(['a', 'b'])
    expect(warm.size()).toBe(0)
    expect(clock.pending()).toBe(0)
  })
})
