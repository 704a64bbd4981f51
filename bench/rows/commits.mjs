/**
 * Durable throughput: tasks of two steps through the whole engine, each step recorded and fsynced before the next one
 * starts, with 1, 16 and 256 of them under way. A task is four commits: born and started, two steps, completed.
 */
import { fdatasyncRate } from '../harness/limits.mjs'
import { caller, load, message, openEngine, system } from '../harness/lull.mjs'
import { inScratch } from '../harness/places.mjs'
import { median, spread } from '../harness/statistics.mjs'
import { elapsed, ratio, takeTurns } from '../harness/turns.mjs'

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
    const tasks = createTasks(subject.engine, await system())
    await tasks(width, quick ? 200 : 1_000, [])
    const goal = quick ? 500 : Math.min(4_000, 1_000 + width * 50)
    const { commits, fdatasync } = await takeTurns(quick ? 3 : 7, {
      commits: async () => {
        Object.assign(seen, { commits: 0, batches: 0 })
        const took = await tasks(width, goal, seen.times)
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

async function twoSteps() {
  const { agent } = await load('engine/agent.js')
  return agent({
    name: 'two-steps',
    description: 'Two steps, nothing else.',
    concurrency: 512,
    async run(task) {
      const found = await task.step('search', () => ({ offers: 3, best: 'AY 1331', price: 99.5 }))
      await task.step('book', () => ({ booked: found.best, seat: '11A' }))
      return 'booked'
    },
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

/** Runs so many tasks, so many at once, each awaited to its end; gives the milliseconds it took. */
function createTasks(engine, { ids }) {
  const ended = (task) => task.state === 'completed'
  return async (width, count, times) => {
    let begun = 0
    const started = performance.now()
    const worker = async () => {
      while (begun++ < count) {
        const before = performance.now()
        const { task } = await engine.send(caller, { message: message(ids) })
        await engine.waitFor(caller, task.id, ended)
        times.push(elapsed(before))
      }
    }
    await Promise.all(Array.from({ length: width }, worker))
    return elapsed(started)
  }
}
