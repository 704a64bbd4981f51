/** N3 (runs.ts): warm or cold, disturbed or not, a task goes on with the same records and comes to the same end. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLullError } from '../../../core/errors.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isPaused, type State } from '../../../core/states.ts'
import type { PauseMode } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import type { Json } from '../../../core/values/json.ts'
import { recordSchema } from '../../input/records.ts'
import type { EngineOptions } from '../../options.ts'
import { drive } from '../../test-support/drive.ts'
import { alice, createHarness, type Harness } from '../../test-support/engine-harness.ts'
import { createFaultyStore } from '../../test-support/faulty-store.ts'
import {
  checkPlaces,
  delays,
  randomAgent,
  randomOperations,
  type Trace,
} from '../../test-support/random-agent.ts'

type Disturbance =
  | { readonly do: 'pause'; readonly mode: PauseMode }
  | { readonly do: 'resume' }
  | { readonly do: 'hold' }
  | { readonly do: 'lift' }
  | { readonly do: 'message' }
  | { readonly do: 'crash' }
  | { readonly do: 'restart' }
  | { readonly do: 'outage' }
  | { readonly do: 'repair' }

const mode = fc.constantFrom<PauseMode>('interrupt_immediate', 'finish_step', 'wait_for_completion')
const gentle: fc.Arbitrary<Disturbance> = fc.oneof(
  { weight: 3, arbitrary: mode.map((m): Disturbance => ({ do: 'pause', mode: m })) },
  { weight: 3, arbitrary: fc.constant<Disturbance>({ do: 'resume' }) },
  fc.constantFrom<Disturbance>({ do: 'hold' }, { do: 'lift' }, { do: 'message' }),
)
const rough: fc.Arbitrary<Disturbance> = fc.oneof(
  { weight: 2, arbitrary: gentle },
  fc.constantFrom<Disturbance>({ do: 'crash' }, { do: 'restart' }),
)
const unlucky: fc.Arbitrary<Disturbance> = fc.oneof(
  { weight: 2, arbitrary: gentle },
  fc.constantFrom<Disturbance>({ do: 'outage' }, { do: 'repair' }),
)
const script = (one: fc.Arbitrary<Disturbance>) =>
  fc.array(fc.record({ after: fc.nat({ max: 12 }), what: one }), { maxLength: 8 })

const settings: readonly [string, Partial<EngineOptions>][] = [
  ['kept warm', {}],
  ['always cold', { warmForMs: 0 }],
  ['with room for a single task in memory', { cachedTasks: 1 }],
]

describe.each(settings)('a task that is %s', (_name, options) => {
  it('N3: comes to the end of an undisturbed one, however it is paused, held and resumed', async () => {
    await check(options, script(gentle), 1)
  })

  it('comes to it also when the store fails now and then, with every step done once', async () => {
    await check(options, script(unlucky), 1)
  })

  it('comes to it also when processes die and restart in between', async () => {
    await check(options, script(rough), Number.POSITIVE_INFINITY)
  })
})

async function check(
  options: Partial<EngineOptions>,
  disturbances: ReturnType<typeof script>,
  mostTimes: number,
): Promise<void> {
  const property = fc.asyncProperty(
    randomOperations,
    disturbances,
    fc.nat(),
    async (ops, steps, seed) => {
      const calm = randomAgent(ops, delays(seed))
      const still = await createHarness({ agents: [calm.agent] })
      const reference = await drive(still, (await still.send('go')).id)
      expect(reference.state, reference.failure?.stack).toBe('completed')

      let state: State = 'submitted'
      const busy = randomAgent(ops, delays(seed), () => !isPaused(state))
      const faulty = createFaultyStore()
      let harness = await createHarness({
        agents: [busy.agent],
        store: faulty.store,
        options: { maxDeaths: 1_000, ...options },
      })
      harness.engine.watch((task) => {
        state = task.state
      })
      const { id } = await harness.send('go')
      for (const { after, what } of steps) {
        for (let turns = after; turns > 0; turns--) await new Promise((next) => setImmediate(next))
        if (what.do === 'outage' || what.do === 'repair') faulty.writesFail = what.do === 'outage'
        else harness = await disturb(harness, id, what)
      }
      faulty.writesFail = false
      for (const hold of await harness.engine.holds(olgaEverywhere)) {
        await harness.engine.lift(olgaEverywhere, hold.id)
      }
      const ended = await drive(harness, id)
      expect(ended.state, ended.failure?.stack).toBe('completed')
      checkPlaces(busy.last().seen)
      // Of a process that died nobody knows what it still did.
      if (mostTimes === 1) expect(busy.late).toEqual([])
      expect(shapeOf(ended)).toEqual(shapeOf(reference))
      const log = await harness.log(id)
      checkOnce(log, busy.all, mostTimes)
      // Whatever an engine writes can be imported.
      for (const record of log) {
        expect(recordSchema(record.type).safeParse(record).error).toBeUndefined()
      }
      const health = await harness.engine.health()
      expect(health.runs.busy).toBe(0)
      const audit = await harness.engine.verify(alice, id)
      expect(audit.faults).toEqual([])
    },
  )
  await fc.assert(property, { numRuns: 25 })
}

const olgaEverywhere = { tenant: '*', principal: 'olga', operator: true }

async function disturb(harness: Harness, taskId: string, { do: what, ...how }: Disturbance) {
  const { engine } = harness
  const refused = (error: unknown): void => {
    if (!isLullError(error)) throw error
  }
  if (what === 'crash') return harness.recover()
  if (what === 'restart') {
    const again = harness.restart()
    await harness.settled()
    harness.clock.advance(20_000)
    return again
  }
  if (what === 'pause') {
    const { mode: wanted } = how as { mode: PauseMode }
    await engine.pause(alice, { taskId, mode: wanted, graceMs: 0 }).catch(refused)
  }
  if (what === 'resume') {
    // By its handle: a park that came in between is not meant.
    const { suspension, pausing } = await harness.get(taskId)
    const { handle, reason = '', initiator } = suspension ?? pausing ?? {}
    const input: Json = initiator === 'agent' ? { to: reason } : null
    if (handle !== undefined) await engine.resume(alice, { taskId, handle, input }).catch(refused)
  }
  if (what === 'hold') {
    await engine.hold(olgaEverywhere, { scope: { all: true }, reason: 'panic' }).catch(refused)
  }
  if (what === 'lift') {
    for (const hold of await engine.holds(olgaEverywhere)) {
      await engine.lift(olgaEverywhere, hold.id).catch(refused)
    }
  }
  if (what === 'message' && (await harness.get(taskId)).question === undefined) {
    await harness.tell(taskId, 'by the way').catch(refused)
  }
  return harness
}

/** Each attempt that began was recorded, and no recorded operation was carried out or written again. */
function checkOnce(log: readonly LogRecord[], all: Trace, mostTimes: number): void {
  const keys = log.flatMap((record) =>
    'key' in record && record.type !== 'attempt' ? [record.key] : [],
  )
  expect(new Set(keys).size, keys.join('\n')).toBe(keys.length)
  for (const [place, attempts] of all.begun) {
    expect(all.keys.get(place)?.size, `idempotency keys of ${place}`).toBe(1)
    for (const attempt of attempts) {
      const times = attempts.filter((one) => one === attempt).length
      expect(times, `${place} began attempt ${attempt} of ${attempts}`).toBeLessThanOrEqual(
        mostTimes,
      )
    }
  }
}

function shapeOf(task: Task): Json {
  return task.artifacts.map(({ name, parts }) => [name ?? '', JSON.stringify(parts)]).sort()
}
