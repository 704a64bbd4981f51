/**
 * Durable throughput: tasks of two steps through the whole engine, each step recorded and fsynced before the next one
 * starts, with 1, 16 and 256 of them under way. A task is four commits: born and started, two steps, completed.
 */
import { fdatasyncRate } from '../harness/limits.mjs'
import { openEngine, system } from '../harness/lull.mjs'
import { inScratch } from '../harness/places.mjs'
import { median, spread } from '../harness/statistics.mjs'
import { elapsed, ratio, takeTurns } from '../harness/turns.mjs'
import { createTasks, twoSteps } from '../harness/two-steps.mjs'

/** A lone commit is worth half an fsync; shared by many, each fsync carries at least five. */
const bars = { 1: { bar: 0.5 }, 256: { bar: 5 } }

export async function run({ quick }) {
  const lines = []
  for (const width of [1, 16, 256]) lines.push(await measure(width, quick))
  return lines
}

function measure(width, quick) {
  return inScratch(async (path) => {
    const seen = { commits: 0, batches: 0, times: [] }
    const subject = await openEngine({ path, agents: [await twoSteps()], observe: counting(seen) })
    const run = createTasks(subject.engine, await system())
    /** Runs so many tasks; gives the milliseconds it took. */
    const tasks = async (count, times) => {
      const started = performance.now()
      await run(width, (begun) => begun >= count, times)
      return elapsed(started)
    }
    await tasks(quick ? 200 : 1_000, [])
    const goal = quick ? 500 : Math.min(4_000, 1_000 + width * 50)
    const { commits, fdatasync } = await takeTurns(quick ? 3 : 7, {
      commits: async () => {
        Object.assign(seen, { commits: 0, batches: 0 })
        const took = await tasks(goal, seen.times)
        return (seen.commits * 1_000) / took
      },
      fdatasync: () => fdatasyncRate(path, quick ? 200 : 400),
    })
    await subject.close()
    return {
      what: `commits per second, two-step tasks, ${width} at once`,
      ours: { value: median(commits), unit: '/s' },
      against: { what: 'fdatasync of 4 KiB', value: median(fdatasync), unit: '/s' },
      score: { value: ratio(commits, fdatasync), unit: 'x' },
      better: 'more',
      ...bars[width],
      details: {
        tasksPerSecond: median(commits) / 4,
        commitsPerFsync: seen.commits / seen.batches,
        taskMs: spread(seen.times),
      },
    }
  })
}

function counting(seen) {
  return (store) => ({
    ...store,
    commit(batch) {
      seen.commits += batch.length
      seen.batches++
      return store.commit(batch)
    },
  })
}
