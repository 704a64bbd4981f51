/** Tasks of two steps, each step recorded before the next one starts: four commits with the birth and the end. */
import { caller, load, message } from './lull.mjs'
import { elapsed } from './turns.mjs'

export async function twoSteps() {
  const { agent } = await load('engine/author/agent.js')
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

/**
 * Runs tasks, so many at once, each awaited to its end.
 * @returns `(width, until, times)`: runs while `until(begun)` is false, and gives how many ended
 */
export function createTasks(engine, { ids }) {
  const ended = (task) => task.state === 'completed'
  return async (width, until, times) => {
    let begun = 0
    const worker = async () => {
      while (!until(begun++)) {
        const before = performance.now()
        const { task } = await engine.send(caller, { message: message(ids) })
        await engine.waitFor(caller, task.id, ended)
        times.push(elapsed(before))
      }
    }
    const before = times.length
    await Promise.all(Array.from({ length: width }, worker))
    return times.length - before
  }
}
