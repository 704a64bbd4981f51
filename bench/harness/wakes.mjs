/** Tasks that work, wait and go on, and how long the going on takes. */
import { caller, load, message, openEngine, system } from './lull.mjs'

/** An engine with such tasks; `once` sends one, wakes it and gives the milliseconds until it got where we look. */
export async function openWakes({ path, wake, to, options = {} }) {
  const places = createPlaces()
  const { engine, close } = await openEngine({ path, agents: [await waiter(places)], options })
  const { ids } = await system()
  const ways = {
    resume: (taskId) => engine.resume(caller, { taskId, input: { paid: true } }),
    event: (taskId) =>
      engine.emit(caller, [
        { id: ids.uuid(), source: 'bench', type: 'payment.done', subject: taskId },
      ]),
  }
  const reaches = (taskId, wanted) =>
    engine.waitFor(caller, taskId, ({ state }) => state === wanted)

  async function once() {
    const { task } = await engine.send(caller, { message: message(ids) })
    await reaches(task.id, 'paused-by-agent')
    const arrived = places.expect(`${to}:${task.id}`)
    const started = performance.now()
    const woken = ways[wake](task.id)
    const took = (await arrived) - started
    await woken
    await reaches(task.id, 'completed')
    return took
  }
  return { once, close }
}

/** Two recorded steps, a park, and a step that tells when it runs and when it is committed. */
async function waiter(places) {
  const { agent } = await load('engine/author/agent.js')
  return agent({
    name: 'waiter',
    description: 'Works, waits, works.',
    async run(task) {
      const order = await task.step('order', () => ({ id: task.id, price: 99.5 }))
      await task.step('announce', () => ({ announced: order.id }))
      await task.park({ reason: 'waiting for the payment', onEvent: `payment.done:${task.id}` })
      await task.step('ship', () => {
        places.arrived(`running:${task.id}`)
        return { shipped: true }
      })
      places.arrived(`committed:${task.id}`)
    },
  })
}

/** Where the agent's code tells that it got somewhere. */
function createPlaces() {
  const expected = new Map()
  return {
    expect: (place) => new Promise((resolve) => expected.set(place, resolve)),
    arrived(place) {
      expected.get(place)?.(performance.now())
      expected.delete(place)
    },
  }
}
