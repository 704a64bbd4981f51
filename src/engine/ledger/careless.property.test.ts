/**
 * Careless agents on a fast and on a slow store, in processes that die. Every task ends as its operations say, at the end
 * every slot, gate and hold is free, and at no time do more tasks work than the agent has slots (W1 of `gate.ts`).
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import type { Agent } from '../author/agent.ts'
import {
  type CarelessOperations,
  carelessAgent,
  carelessOperations,
  outcomeOf,
  partsFor,
} from '../test-support/careless-agent.ts'
import { createDelayingStore } from '../test-support/delaying-store.ts'
import { alice, createHarness, type Harness, olga } from '../test-support/engine-harness.ts'

/** What happens to the tasks while they run. `turns`: how many turns of the event loop later. */
const disturbance = fc.record({
  what: fc.constantFrom('wait', 'crash', 'pause', 'hold', 'second'),
  turns: fc.integer({ min: 0, max: 25 }),
})
type Disturbance = typeof disturbance extends fc.Arbitrary<infer D> ? D : never

const scenario = fc.record({
  plans: fc.array(carelessOperations, { minLength: 1, maxLength: 3 }),
  disturbances: fc.array(disturbance, { maxLength: 6 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
  warmForMs: fc.constantFrom(0, 60_000),
  seed: fc.integer(),
  turns: fc.constantFrom(0, 3),
})

const ROUNDS = 150

interface Scenario {
  readonly plans: readonly CarelessOperations[]
  readonly disturbances: readonly Disturbance[]
  readonly concurrency: number
  readonly warmForMs: number
  readonly seed: number
  /** The most event-loop turns that the store is late. */
  readonly turns: number
}

async function check(given: Scenario): Promise<void> {
  const { plans, disturbances, concurrency, warmForMs, seed, turns } = given
  const clock = createManualClock()
  const later = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.after(ms, resolve)
    })
  const { agentOf, mostWorking } = countingWork(later)
  const store = createMemoryStore()
  let harness = await createHarness({
    clock,
    store: turns === 0 ? store : createDelayingStore(store, { seed, turns }),
    agents: [agentOf()],
    options: { concurrency, warmForMs },
  })
  const roots: string[] = []
  for (const operations of plans) roots.push((await harness.send(partsFor(operations))).id)
  for (const one of disturbances) harness = await disturb(harness, roots, one, agentOf)
  await liftAll(harness)
  const tasks = await untilAllEnded(harness, roots)
  for (const [index, id] of roots.entries()) expectOutcome(tasks, id, plans[index] ?? [])
  await harness.settled()
  expect((await harness.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
  expect(mostWorking()).toBeLessThanOrEqual(concurrency)
  expect(await harness.engine.holds(olga)).toEqual([])
  expect(harness.said.filter(({ level }) => level === 'error')).toEqual([])
  for (const id of tasks.keys()) {
    const said = (await harness.log(id)).filter((record) => record.type === 'said')
    expect(JSON.stringify(said)).not.toContain('late')
  }
}

it('careless agents end in the right state, and free every slot', async () => {
  await fc.assert(fc.asyncProperty(scenario, check), { numRuns: 150 })
})

it('a parent that is rebuilt while it still waits for another child gives its slot back', async () => {
  await check({
    plans: [
      [
        { op: 'delegate', use: 'nothing', in: 'run', operations: [] },
        { op: 'delegate', use: 'result', in: 'run', operations: [] },
        { op: 'step' },
      ],
      [{ op: 'step' }],
    ],
    disturbances: [],
    concurrency: 1,
    warmForMs: 0,
    seed: 142_497_444,
    turns: 3,
  })
})

/** Agents that are the same but for the process they run in. A dead process does not count as working. */
function countingWork(later: (ms: number) => Promise<void>): {
  agentOf(): Agent
  mostWorking(): number
} {
  let most = 0
  return {
    mostWorking: () => most,
    agentOf() {
      const working: string[] = []
      return carelessAgent({
        later,
        async working(taskId, work) {
          working.push(taskId)
          most = Math.max(most, new Set(working).size)
          try {
            return await work
          } finally {
            working.splice(working.indexOf(taskId), 1)
          }
        },
      })
    },
  }
}

async function disturb(
  harness: Harness,
  roots: readonly string[],
  one: Disturbance,
  agentOf: () => Agent,
): Promise<Harness> {
  for (let turn = 0; turn < one.turns; turn++) await new Promise((next) => setImmediate(next))
  switch (one.what) {
    case 'crash':
      return harness.recover({ agents: [agentOf()] })
    case 'second':
      harness.clock.advance(1_000)
      return harness
    case 'pause':
      for (const taskId of roots) {
        harness.engine
          .pause(alice, { taskId, mode: 'interrupt_immediate', graceMs: 0 })
          .catch(() => undefined)
      }
      return harness
    case 'hold':
      harness.engine
        .hold(olga, { scope: { tenant: 'acme' }, reason: 'stop', holdNew: true })
        .catch(() => undefined)
      return harness
    default:
      return harness
  }
}

async function liftAll(harness: Harness): Promise<void> {
  await harness.settled()
  for (const { id } of await harness.engine.holds(olga)) await harness.engine.lift(olga, id)
}

/** Answers what is asked, resumes what is stopped, moves the clock: until every task has ended. */
async function untilAllEnded(
  harness: Harness,
  roots: readonly string[],
): Promise<ReadonlyMap<string, Task>> {
  let tasks = new Map<string, Task>()
  for (let round = 0; round < ROUNDS; round++) {
    await harness.settled()
    tasks = await family(harness, roots)
    const open = [...tasks.values()].filter(({ state }) => !isTerminal(state))
    if (open.length === 0) return tasks
    for (const task of open) await help(harness, task)
    harness.clock.advance(1_000)
  }
  const stuck = [...tasks.values()].filter(({ state }) => !isTerminal(state))
  const logs = await Promise.all(
    stuck.map(async ({ id, state }) => `${id} ${state}: ${(await harness.types(id)).join(' ')}`),
  )
  throw new Error(`stuck:\n${logs.join('\n')}`)
}

async function help(harness: Harness, task: Task): Promise<void> {
  if (task.state === 'input-required') await harness.tell(task.id, 'yes').catch(() => undefined)
  else if (task.suspension !== undefined) {
    await harness.engine.resume(alice, { taskId: task.id }).catch(() => undefined)
  }
}

/** The tasks and their children. A child may not exist yet while its parent is stopped, but not after its end. */
async function family(
  harness: Harness,
  ids: readonly string[],
  parent?: Task,
): Promise<Map<string, Task>> {
  const tasks = new Map<string, Task>()
  for (const id of ids) {
    const task = await harness.get(id).catch((error: unknown) => {
      if (parent === undefined || isTerminal(parent.state)) throw error
    })
    if (task === undefined) continue
    tasks.set(id, task)
    for (const [childId, child] of await family(harness, task.children, task)) {
      tasks.set(childId, child)
    }
  }
  return tasks
}

function expectOutcome(
  tasks: ReadonlyMap<string, Task>,
  id: string,
  operations: CarelessOperations,
): void {
  expect([id, tasks.get(id)?.state, tasks.get(id)?.failure?.message]).toEqual([
    id,
    outcomeOf(operations),
    outcomeOf(operations) === 'failed' ? expect.any(String) : undefined,
  ])
}
