/** What a recorded step costs when a cold run is rebuilt: a journal of 200 steps against one of 2, per step. */
import { parseTime } from '../harness/limits.mjs'
import { caller, load, message, openEngine, system } from '../harness/lull.mjs'
import { inScratch } from '../harness/places.mjs'
import { median, spread } from '../harness/statistics.mjs'
import { ratio, takeTurns } from '../harness/turns.mjs'

const [FEW, MANY] = [2, 200]

export async function run({ quick }) {
  return inScratch(async (path) => {
    const arrivals = new Map()
    const agents = [await walker((taskId) => arrivals.get(taskId)?.(performance.now()))]
    const options = { warmForMs: 0, cachedTasks: 1 }
    const { engine, close } = await openEngine({ path, agents, options })
    const { ids } = await system()

    /** Milliseconds from the resume until the code behind the park runs. */
    async function once(steps) {
      const { task } = await engine.send(caller, { message: message(ids, String(steps)) })
      await engine.waitFor(caller, task.id, ({ state }) => state === 'paused-by-agent')
      const arrived = new Promise((resolve) => arrivals.set(task.id, resolve))
      const started = performance.now()
      const resumed = engine.resume(caller, { taskId: task.id })
      const took = (await arrived) - started
      arrivals.delete(task.id)
      await resumed
      await engine.waitFor(caller, task.id, ({ state }) => state === 'completed')
      return took
    }
    const typical = async (steps, count) => {
      const times = []
      for (let i = 0; i < count; i++) times.push(await once(steps))
      return spread(times).p50
    }
    await typical(FEW, quick ? 20 : 100)
    await typical(MANY, quick ? 3 : 10)
    const { ours, parse } = await takeTurns(quick ? 3 : 7, {
      ours: async () => {
        const few = await typical(FEW, quick ? 10 : 30)
        return (await typical(MANY, quick ? 5 : 15)) - few
      },
      parse: () => (MANY - FEW) * parseTime(100),
    })
    await close()
    const each = (values) => (median(values) * 1_000) / (MANY - FEW)
    return [
      {
        what: `cold replay per recorded step, journal of ${MANY}`,
        ours: { value: each(ours), unit: 'us' },
        against: { what: 'JSON.parse of 300 B', value: each(parse), unit: 'us' },
        score: { value: ratio(ours, parse), unit: 'x' },
        better: 'less',
        bar: 8,
        details: { extraMs: median(ours) },
      },
    ]
  })
}

async function walker(arrived) {
  const { agent } = await load('engine/agent.js')
  return agent({
    name: 'walker',
    description: 'Many steps, then a park.',
    async run(task) {
      const steps = Number(task.text)
      for (let i = 0; i < steps; i++) {
        await task.step('walk', () => ({ at: i, place: `milestone ${i}`, seen: ['a', 'b', 'c'] }))
      }
      await task.park({ reason: 'resting' })
      arrived(task.id)
    },
  })
}
