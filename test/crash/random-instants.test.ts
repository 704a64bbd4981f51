/** Deaths at any instant: while it starts, while it recovers, between two instructions. */
import { afterEach, expect, it } from 'vitest'
import { seeded } from '../support/seeded.ts'
import { killAll, type Worker } from '../support/worker-process.ts'
import { judge } from './judge.ts'
import { live } from './lives.ts'

afterEach(killAll)

const KILLS = 25

it.each([1, 2])(
  'finishes three tasks through 25 deaths at random instants (seed %i)',
  async (seed) => {
    const random = seeded(seed)

    /** After some news, the first of which is that it is ready, and a little later. */
    function doom(worker: Worker): void {
      const news = Math.floor(random() * 14)
      const delay = random() * 8
      let heard = 0
      const strike = (): void => {
        setTimeout(() => worker.kill(), delay)
      }
      if (news === 0) setTimeout(() => worker.kill(), random() * 250)
      else
        worker.listen(() => {
          if (++heard === news) strike()
        })
    }

    const story = await live(
      ['a', 'b', 'c'],
      () => undefined,
      (worker, life) => {
        if (life <= KILLS) doom(worker)
      },
    )
    expect(story.killed.size).toBe(KILLS)
    await judge(story)
  },
)
