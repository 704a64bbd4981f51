/** What a recorded step costs when a cold run is rebuilt: a journal of 1,000 steps against one of 2, per step. */
import { fill } from '../harness/fill.mjs'
import { parseTime } from '../harness/limits.mjs'
import { caller, load, openEngine } from '../harness/lull.mjs'
import { inScratch } from '../harness/places.mjs'
import { median, spread } from '../harness/statistics.mjs'
import { ratio, takeTurns } from '../harness/turns.mjs'

const [FEW, MANY] = [2, 1_000]
const reason = 'resting'
const result = (at) => ({ at, place: `milestone ${at}`, seen: ['a', 'b', 'c'] })
/** Every other task is a long one. */
const stepsOf = (number) => (number % 2 === 0 ? FEW : MANY)

export async function run({ quick }) {
  const turns = quick ? 3 : 7
  const each = quick ? 4 : 12
  return inScratch(async (path) => {
    await fill({ path, count: 2 * each * (turns + 1), life, at: Date.now() })
    const arrivals = new Map()
    const agents = [await walker((taskId) => arrivals.get(taskId)?.(performance.now()))]
    const options = { warmForMs: 0, cachedTasks: 1 }
    const { engine, store, close } = await openEngine({ path, agents, options })
    const rows = await store.list({ ...caller, limit: 10_000 })
    const left = { [FEW]: [], [MANY]: [] }
    for (const { id } of rows) left[await recordedSteps(store, id)].push(id)

    /** Milliseconds from the resume until the code behind the park runs. Each task can be woken once. */
    async function once(taskId) {
      const arrived = new Promise((resolve) => arrivals.set(taskId, resolve))
      const started = performance.now()
      const resumed = engine.resume(caller, { taskId })
      const took = (await arrived) - started
      await resumed
      await engine.waitFor(caller, taskId, ({ state }) => state === 'completed')
      return took
    }
    const typical = async (steps) => {
      const times = []
      for (const taskId of left[steps].splice(0, each)) times.push(await once(taskId))
      return spread(times).p50
    }
    const extra = async () => (await typical(MANY)) - (await typical(FEW))
    await extra()
    const { ours, parse } = await takeTurns(turns, {
      ours: extra,
      parse: () => (MANY - FEW) * parseTime(100),
    })
    await close()
    const perStep = (values) => (median(values) * 1_000) / (MANY - FEW)
    return [
      {
        what: `cold replay per recorded step, journal of ${MANY.toLocaleString('en')}`,
        ours: { value: perStep(ours), unit: 'us' },
        against: { what: 'JSON.parse of 300 B', value: perStep(parse), unit: 'us' },
        score: { value: ratio(ours, parse), unit: 'x' },
        better: 'less',
        bar: 8,
        details: { extraMs: median(ours) },
      },
    ]
  })
}

async function recordedSteps(store, id) {
  const tenant = await store.tenantOf(id)
  return (await store.records(tenant, id, FEW + 2, 1))[0]?.type === 'step' ? MANY : FEW
}

const life = {
  agent: 'walker',
  commands: (number, { token, ids }) => [
    ...Array.from({ length: stepsOf(number) }, (_, at) => ({
      type: 'record',
      run: token,
      records: [step(at)],
    })),
    {
      type: 'park',
      run: token,
      key: 'park:#1',
      fingerprint: '{}',
      handle: `suspend-${ids.uuid()}`,
      reason,
      eventsNow: 0,
    },
  ],
}

function step(at) {
  const key = `step:walk#${at + 1}`
  return { type: 'step', key, name: 'walk', attempt: 1, result: result(at), topLevel: true }
}

async function walker(arrived) {
  const { agent } = await load('engine/author/agent.js')
  return agent({
    name: 'walker',
    description: 'Many steps, then a park.',
    async run(task) {
      for (let at = 0; at < stepsOf(Number(task.text)); at++) {
        await task.step('walk', () => result(at))
      }
      await task.park({ reason })
      arrived(task.id)
    },
  })
}
