import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { signal } from '../test-support/engine-harness.ts'
import { createTimers, type Timers } from './timers.ts'

interface Setup {
  readonly timers: Timers
  readonly clock: ReturnType<typeof createManualClock>
  /** Due instants by task, as the store has them. */
  readonly stored: Map<string, number>
  readonly fired: string[]
  /** The store answers after this; replace it to make the store slow. */
  delay: () => Promise<void>
}

function setup(): Setup {
  const clock = createManualClock(0)
  const stored = new Map<string, number>()
  const fired: string[] = []
  const made: Setup = {
    clock,
    stored,
    fired,
    delay: async () => undefined,
    timers: createTimers({
      clock,
      log: () => undefined,
      store: {
        async due(now, limit) {
          return [...stored]
            .flatMap(([id, at]) => (at <= now ? [{ taskId: id, tenant: 'acme' }] : []))
            .slice(0, limit)
        },
        async nextDueAt() {
          const next = stored.size === 0 ? undefined : Math.min(...stored.values())
          await made.delay()
          return next
        },
      },
      wake: async (taskId) => {
        fired.push(taskId)
        return stored.delete(taskId)
      },
    }),
  }
  return made
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('timers', () => {
  it('T1: fire at start what fell due before', async () => {
    const { timers, stored, fired } = setup()
    stored.set('old', -1)
    await timers.start()
    expect(fired).toEqual(['old'])
  })

  it('T2: fire a task that falls due while the sweep waits for the next instant', async () => {
    const one = setup()
    const { timers, clock, stored, fired } = one
    const slow = signal()
    one.delay = () => slow.promise
    const starting = timers.start()
    await settled()
    // The sweep has read that nothing is due next. Now a task stops, and its instant comes.
    stored.set('late', 10)
    timers.at(10)
    clock.advance(10)
    await settled()
    one.delay = async () => undefined
    slow.fire()
    await starting
    expect(fired).toEqual(['late'])
  })

  it('T2: fire everything once, wherever in the sweep it falls due', async () => {
    for (let instant = 1; instant < 12; instant++) {
      const one = setup()
      const { timers, clock, stored, fired } = one
      one.delay = settled as () => Promise<void>
      await timers.start()
      for (const [id, at] of [
        ['a', 1],
        ['b', instant],
        ['c', 6],
      ] as const) {
        stored.set(id, at)
        timers.at(at)
      }
      for (let n = 0; n < 12; n++) {
        clock.advance(1)
        await Promise.resolve()
        await Promise.resolve()
      }
      for (let n = 0; n < 9; n++) {
        await settled()
        clock.advance(0)
      }
      expect(fired.sort()).toEqual(['a', 'b', 'c'])
    }
  })

  it('CL3: fire when the machine slept past an instant', async () => {
    const { timers, clock, stored, fired } = setup()
    await timers.start()
    stored.set('far', 30 * 86_400_000)
    timers.at(30 * 86_400_000)
    clock.sleep(31 * 86_400_000)
    await settled()
    expect(fired).toEqual(['far'])
  })

  it.each([31 * 86_400_000, -31 * 86_400_000])(
    'CL2: fire at their instant, neither earlier nor later, when the wall clock was set by %i ms',
    async (ms) => {
      const { timers, clock, stored, fired } = setup()
      await timers.start()
      stored.set('near', 60_000)
      timers.at(60_000)
      clock.stepWall(ms)
      clock.advance(59_999)
      await settled()
      expect(fired).toEqual([])
      clock.advance(1)
      await settled()
      expect(fired).toEqual(['near'])
    },
  )

  it('T3: try a task again that could not be woken', async () => {
    const clock = createManualClock(0)
    let tries = 0
    const timers = createTimers({
      clock,
      log: () => undefined,
      store: {
        due: async () => (tries < 2 ? [{ taskId: 'stuck', tenant: 'acme' }] : []),
        nextDueAt: async () => (tries < 2 ? 0 : undefined),
      },
      wake: async () => {
        tries++
        throw new Error('the disk is full')
      },
    })
    await timers.start()
    expect(tries).toBe(1)
    clock.advance(1_000)
    await settled()
    expect(tries).toBe(2)
    expect(clock.pending()).toBe(0)
  })

  it('do nothing more once they are stopped', async () => {
    const { timers, clock, stored, fired } = setup()
    await timers.start()
    stored.set('late', 5)
    timers.at(5)
    timers.stop()
    timers.at(6)
    clock.advance(10)
    await settled()
    expect(fired).toEqual([])
    expect(clock.pending()).toBe(0)
  })
})
