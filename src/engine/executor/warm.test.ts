import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { alice, createHarness, effects, running } from '../test-support/engine-harness.ts'
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
    const harness = await createHarness({ agents: [parker(begun)] })
    const warm = await harness.send('warm')
    await harness.until(warm.id, 'paused-by-agent')
    await harness.pass(MINUTE - 1)
    expect((await harness.engine.health()).runs).toEqual({ live: 1, warm: 1, busy: 0 })
    await harness.engine.resume(alice, { taskId: warm.id })
    await harness.until(warm.id, 'completed')
    expect(begun.count('begin')).toBe(1)

    const cold = await harness.send('cold')
    await harness.until(cold.id, 'paused-by-agent')
    await harness.pass(MINUTE)
    expect((await harness.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
    await harness.engine.resume(alice, { taskId: cold.id })
    await harness.until(cold.id, 'completed')
    expect(begun.count('begin')).toBe(3)
  })

  it('leaves memory earlier when it is short, the longest stopped first', async () => {
    let used = 0
    const harness = await createHarness({
      agents: [parker()],
      options: { memoryLimitBytes: 100 },
      usedBytes: () => used,
    })
    for (let n = 0; n < 8; n++) {
      const { id } = await harness.send(`${n}`)
      await harness.until(id, 'paused-by-agent')
      harness.clock.advance(1)
    }
    expect((await harness.engine.health()).runs.warm).toBe(8)
    used = 200
    await harness.pass(1_000)
    expect((await harness.engine.health()).runs.warm).toBe(4)
    await harness.pass(1_000)
    expect((await harness.engine.health()).runs.warm).toBe(2)
    used = 0
    await harness.pass(1_000)
    expect((await harness.engine.health()).runs.warm).toBe(2)
  })

  it('that leaves memory is told so by its signal, and by nothing else', async () => {
    const seen = effects()
    const harness = await createHarness({
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
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.pass(MINUTE)
    await harness.settled()
    expect(seen.list).toEqual(['signal'])
  })
})

describe('the list of warm runs', () => {
  it('gives up each after its time, also when others came in between, and none that was removed', () => {
    const clock = createManualClock()
    const gone: string[] = []
    const options = { warmForMs: 10_000, memoryLimitBytes: 1 }
    const warm = createWarm(clock, { usedBytes: () => 0 }, options, (id) => gone.push(id))
    const add = (taskId: string) => warm.add({ taskId, tenant: 'acme' })
    add('a')
    clock.advance(4_000)
    add('b')
    add('c')
    clock.advance(4_000)
    add('b')
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

  it('gives up those of the largest tenant first when memory is short', () => {
    const clock = createManualClock()
    const memory = { used: 0 }
    const gone: string[] = []
    const options = { warmForMs: 60_000, memoryLimitBytes: 1 }
    const warm = createWarm(clock, { usedBytes: () => memory.used }, options, (id) => gone.push(id))
    // The small tenant stopped first, and the large one would push it out.
    const add = (taskId: string, tenant: string) => warm.add({ taskId, tenant })
    add('small-1', 'small')
    add('small-2', 'small')
    for (let n = 1; n <= 6; n++) add(`large-${n}`, 'large')
    memory.used = 2
    clock.advance(1_000)
    expect(gone).toEqual(['large-1', 'large-2', 'large-3', 'large-4'])
    clock.advance(1_000)
    expect(gone.slice(4)).toEqual(['small-1', 'large-5'])
    warm.close()
  })
})
