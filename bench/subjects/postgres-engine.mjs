/** A process of a cluster: an engine on PostgreSQL with the agents that the rows need. */

import { farTimeout } from '../harness/filled.mjs'
import { caller, load, message, openEngineOn, system } from '../harness/lull.mjs'
import { sleeper } from '../harness/parked.mjs'
import { spread } from '../harness/statistics.mjs'
import { serveSubject } from '../harness/subject.mjs'
import { elapsed } from '../harness/turns.mjs'
import { createTasks, twoSteps } from '../harness/two-steps.mjs'

await serveSubject(async ({ url, agents: wanted = ['two-steps'] }) => {
  const { createPostgresStore } = await load('stores/postgres/postgres-store.js')
  const store = await createPostgresStore({ url })
  const arrivals = []
  const made = { 'two-steps': twoSteps, waiter: () => waiter(arrivals), sleeper: idleSleeper }
  const agents = await Promise.all(wanted.map((name) => made[name]()))
  const { engine, close } = await openEngineOn(store, { agents })
  const world = await system()
  const run = createTasks(engine, world)

  /** Two-step tasks for so long, so many at once. */
  async function tasks({ width, ms }) {
    const times = []
    const started = performance.now()
    await run(width, () => elapsed(started) >= ms, times)
    return { rate: (times.length * 1_000) / elapsed(started), ...spread(times) }
  }

  /** Starts a task that parks; resolves when it is parked. */
  async function park() {
    const { task } = await engine.send(caller, { message: message(world.ids) })
    await engine.waitFor(caller, task.id, ({ state }) => state === 'paused-by-agent')
    return task.id
  }

  /** Sends the event that the task waits for. Gives the instant before. */
  async function wake({ taskId }) {
    const at = instant()
    const event = { id: world.ids.uuid(), source: 'bench', type: 'payment.done', subject: taskId }
    await engine.emit(caller, [event])
    return at
  }

  /** The instant at which the step after the park ran. */
  async function arrival({ taskId }) {
    await engine.waitFor(caller, taskId, ({ state }) => state === 'completed')
    return arrivals.pop()
  }

  /** Reserves ready tasks until there are none, or `most` were reserved; returns how many. */
  async function claim({ agent, batch, most }) {
    let claimed = 0
    for (;;) {
      const { length } = await store.ready(agent, batch)
      claimed += length
      // Reservations run out: a slow machine could go on for ever.
      if (length === 0 || claimed >= most) return claimed
    }
  }

  return { handlers: { tasks, park, wake, arrival, claim, cpu: () => process.cpuUsage(), close } }
})

/** Milliseconds of a clock that all processes of the machine share. */
function instant() {
  return Number(process.hrtime.bigint()) / 1e6
}

async function waiter(arrivals) {
  const { agent } = await load('engine/author/agent.js')
  return agent({
    name: 'waiter',
    description: 'Works, waits, works.',
    async run(task) {
      await task.step('order', () => ({ price: 99.5 }))
      await task.park({ reason: 'waiting for the payment', onEvent: `payment.done:${task.id}` })
      await task.step('ship', () => {
        arrivals.push(instant())
        return { shipped: true }
      })
    },
  })
}

function idleSleeper() {
  return sleeper({ timeoutOf: farTimeout })
}
