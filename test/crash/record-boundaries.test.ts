/**
 * Deaths at every record boundary: right after a write became durable, and right before it could. With those at random
 * instants (`random-instants.test.ts`) at least 125 in all.
 */
import { afterEach, expect, it } from 'vitest'
import { killAll } from '../support/worker-process.ts'
import { judge } from './judge.ts'
import { live } from './lives.ts'
import { STEPS } from './scenario.ts'

afterEach(killAll)

it('finishes in one life when nobody kills it', async () => {
  const story = await live(['calm'], () => undefined)
  expect(story.lives).toBe(1)
  const [log = []] = story.client.seen.values()
  expect(log.filter((record) => record.type === 'step')).toHaveLength(STEPS)
  await judge(story)
})

it('survives a death right after every record', async () => {
  const story = await live(['a'], () => ({ kill: { moment: 'after', nth: 1, of: 'progress' } }))
  expect(story.killed.size).toBeGreaterThanOrEqual(30)
  await judge(story)
})

it('survives a death right before every record, when what was done is not recorded yet', async () => {
  const story = await live(['a'], () => ({ kill: { moment: 'before', nth: 2, of: 'progress' } }))
  expect(story.killed.size).toBeGreaterThanOrEqual(30)
  await judge(story)
})

it('survives a single death, and goes on to the end in the next life', async () => {
  let stories = 0
  let kills = 0
  /** Every other write of an undisturbed life: the boundaries in between are seen to above. */
  async function sweep(): Promise<void> {
    for (;;) {
      const nth = 2 * stories + 1
      const moment = stories++ % 2 === 0 ? 'after' : 'before'
      const kill = { moment, nth, of: 'write' } as const
      const story = await live(['a'], (life) => (life === 1 ? { kill } : undefined))
      await judge(story)
      kills += story.killed.size
      if (story.killed.size === 0) return
    }
  }
  // Each sweep is a process and a test that wait for each other; two of them keep two cores busy.
  await Promise.all([sweep(), sweep()])
  expect(kills).toBeGreaterThanOrEqual(15)
})
