/**
 * Careless agents on a slow store, in processes that die. Every task ends as its program says, and at the end every slot,
 * gate and hold is free.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isTerminal } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import { createMemoryStore } from '../stores/memory/memory-store.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import {
  type CarelessProgram,
  carelessAgent,
  carelessProgram,
  outcomeOf,
  partsFor,
} from './test-support/careless-program.ts'
import { createDelayingStore } from './test-support/delaying-store.ts'
import { alice, createWorld, olga, type World } from './test-support/world.ts'

/** What happens to the tasks while they run. `turns`: how many turns of the event loop later. */
const disturbance = fc.record({
  what: fc.constantFrom('wait', 'crash', 'pause', 'hold', 'second'),
  turns: fc.integer({ min: 0, max: 25 }),
})
type Disturbance = typeof disturbance extends fc.Arbitrary<infer D> ? D : never

const scenario = fc.record({
  programs: fc.array(carelessProgram, { minLength: 1, maxLength: 3 }),
  disturbances: fc.array(disturbance, { maxLength: 6 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
  warmForMs: fc.constantFrom(0, 60_000),
  seed: fc.integer(),
})

const ROUNDS = 150

interface Scenario {
  readonly programs: readonly CarelessProgram[]
  readonly disturbances: readonly Disturbance[]
  readonly concurrency: number
  readonly warmForMs: number
  readonly seed: number
}

async function check(given: Scenario): Promise<void> {
  const { programs, disturbances, concurrency, warmForMs, seed } = given
  const clock = createManualClock()
  const later = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.after(ms, resolve)
    })
  let world = await createWorld({
    clock,
    store: createDelayingStore(createMemoryStore(), { seed, turns: 3 }),
    agents: [carelessAgent(later)],
    options: { concurrency, warmForMs },
  })
  const roots: string[] = []
  for (const program of programs) roots.push((await world.send(partsFor(program))).id)
  for (const one of disturbances) world = await disturb(world, roots, one)
  await liftAll(world)
  const tasks = await untilAllEnded(world, roots)
  for (const [index, id] of roots.entries()) expectOutcome(tasks, id, programs[index] ?? [])
  await world.settled()
  expect((await world.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
  expect(await world.engine.holds(olga)).toEqual([])
  expect(world.said.filter(({ level }) => level === 'error')).toEqual([])
  for (const id of tasks.keys()) {
    const said = (await world.log(id)).filter((record) => record.type === 'said')
    expect(JSON.stringify(said)).not.toContain('late')
  }
}

it('careless agents end truthfully, and leave nothing taken', async () => {
  await fc.assert(fc.asyncProperty(scenario, check), { numRuns: 150 })
})

it('a parent that is rebuilt while it still waits for another child gives its slot back', async () => {
  await check({
    programs: [
      [
        { op: 'delegate', use: 'nothing', program: [] },
        { op: 'delegate', use: 'result', program: [] },
        { op: 'step' },
      ],
      [{ op: 'step' }],
    ],
    disturbances: [],
    concurrency: 1,
    warmForMs: 0,
    seed: 142_497_444,
  })
})

async function disturb(world: World, roots: readonly string[], one: Disturbance): Promise<World> {
  for (let turn = 0; turn < one.turns; turn++) await new Promise((next) => setImmediate(next))
  switch (one.what) {
    case 'crash':
      return world.recover()
    case 'second':
      world.clock.advance(1_000)
      return world
    case 'pause':
      for (const taskId of roots) {
        world.engine
          .pause(alice, { taskId, mode: 'interrupt_immediate', graceMs: 0 })
          .catch(() => undefined)
      }
      return world
    case 'hold':
      world.engine
        .hold(olga, { scope: { tenant: 'acme' }, reason: 'stop', holdNew: true })
        .catch(() => undefined)
      return world
    default:
      return world
  }
}

async function liftAll(world: World): Promise<void> {
  await world.settled()
  for (const { id } of await world.engine.holds(olga)) await world.engine.lift(olga, id)
}

/** Answers what is asked, resumes what is stopped, moves the clock: until every task has ended. */
async function untilAllEnded(
  world: World,
  roots: readonly string[],
): Promise<ReadonlyMap<string, Task>> {
  let tasks = new Map<string, Task>()
  for (let round = 0; round < ROUNDS; round++) {
    await world.settled()
    tasks = await family(world, roots)
    const open = [...tasks.values()].filter(({ state }) => !isTerminal(state))
    if (open.length === 0) return tasks
    for (const task of open) await help(world, task)
    world.clock.advance(1_000)
  }
  const stuck = [...tasks.values()].filter(({ state }) => !isTerminal(state))
  const logs = await Promise.all(
    stuck.map(async ({ id, state }) => `${id} ${state}: ${(await world.types(id)).join(' ')}`),
  )
  throw new Error(`stuck:\n${logs.join('\n')}`)
}

async function help(world: World, task: Task): Promise<void> {
  if (task.state === 'input-required') await world.tell(task.id, 'yes').catch(() => undefined)
  else if (task.suspension !== undefined) {
    await world.engine.resume(alice, { taskId: task.id }).catch(() => undefined)
  }
}

/** The tasks and their children. A child may not exist yet while its parent is stopped, but not after its end. */
async function family(
  world: World,
  ids: readonly string[],
  parent?: Task,
): Promise<Map<string, Task>> {
  const tasks = new Map<string, Task>()
  for (const id of ids) {
    const task = await world.get(id).catch((error: unknown) => {
      if (parent === undefined || isTerminal(parent.state)) throw error
    })
    if (task === undefined) continue
    tasks.set(id, task)
    for (const [childId, child] of await family(world, task.children, task)) {
      tasks.set(childId, child)
    }
  }
  return tasks
}

function expectOutcome(
  tasks: ReadonlyMap<string, Task>,
  id: string,
  program: CarelessProgram,
): void {
  expect([id, tasks.get(id)?.state, tasks.get(id)?.failure?.message]).toEqual([
    id,
    outcomeOf(program),
    outcomeOf(program) === 'failed' ? expect.any(String) : undefined,
  ])
}
