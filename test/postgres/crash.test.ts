/** Deaths of a process whose tasks are in PostgreSQL. The next process takes them over when the lease has run out. */
import { afterEach, expect, it } from 'vitest'
import { judge } from '../crash/judge.ts'
import { live } from '../crash/lives.ts'
import { killAll } from '../support/worker-process.ts'

afterEach(killAll)

it.each(['after', 'before'] as const)(
  'survives deaths right %s a write, one in each life',
  async (moment) => {
    const deaths = 4
    const story = await live(['a', 'b'], (life) =>
      life > deaths ? undefined : { kill: { moment, nth: 2 + (life % 3), of: 'progress' } },
    )
    expect(story.killed.size).toBe(deaths)
    await judge(story)
  },
)
