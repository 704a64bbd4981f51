/** Parents that wait for children, within tight limits and disturbed at random: nobody waits for ever, no slot is lost. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLullError } from '../../core/errors.ts'
import { isTerminal } from '../../core/states.ts'
import type { Effects, Harness } from '../test-support/engine-harness.ts'
import { alice, createHarness, effects, running } from '../test-support/engine-harness.ts'

interface Person {
  readonly steps: number
  readonly together: boolean
  readonly children: readonly Person[]
}

const person = (depth: number): fc.Arbitrary<Person> =>
  fc.record({
    steps: fc.nat({ max: 2 }),
    together: fc.boolean(),
    children:
      depth === 0 ? fc.constant([]) : fc.array(person(depth - 1), { minLength: 1, maxLength: 3 }),
  })

const act = fc.record({
  after: fc.nat({ max: 10 }),
  whom: fc.nat(),
  what: fc.constantFrom('pause', 'cascade', 'resume', 'hold', 'lift', 'crash', 'restart'),
})

/** The agent that lives a life as its message describes it. */
const living = (done: Effects, concurrency: number) =>
  running(
    async (task) => {
      const { steps, together, children } = JSON.parse(task.text) as Person
      for (let n = 0; n < steps; n++)
        await task.step(`step ${n}`, () => done.note(`${task.id} ${n}`))
      const live = async (child: Person): Promise<void> => {
        const created = await task.delegate('worker', JSON.stringify(child))
        await created.result()
        await task.step('after', () => done.note(`${task.id} after ${created.id}`))
      }
      if (together) await Promise.all(children.map(live))
      else for (const child of children) await live(child)
    },
    { concurrency },
  )

/** More event-loop turns than a restart takes on the slowest store; the clock stands still meanwhile. */
const RESTART_TURNS = 5_000
const root = { tenant: '*', principal: 'root', operator: true }
const size = ({ children }: Person): number => children.reduce((sum, one) => sum + size(one), 1)

describe('a family', () => {
  it('comes to its end whatever happens to its members, each step done once', async () => {
    await fc.assert(
      fc.asyncProperty(
        person(2),
        fc.array(act, { maxLength: 8 }),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(0, 60_000),
        async (adam, acts, concurrency, warmForMs) => {
          const done = effects()
          let harness = await createHarness({
            agents: [living(done, concurrency)],
            options: { warmForMs, cachedTasks: warmForMs === 0 ? 2 : 100, maxDeaths: 1_000 },
          })
          const { id } = await harness.send(JSON.stringify(adam))
          for (const { after, whom, what } of acts) {
            for (let turn = after; turn > 0; turn--) await new Promise((go) => setImmediate(go))
            harness = await disturb(harness, whom, what)
          }
          await finish(harness)
          expect((await harness.get(id)).state).toBe('completed')
          expect(await harness.store.count({ states: ['completed'] })).toBe(size(adam))
          expect((await harness.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
          const died = acts.some(({ what }) => what === 'crash' || what === 'restart')
          if (!died) expect(new Set(done.list).size).toBe(done.list.length)
        },
      ),
      { numRuns: 60 },
    )
  })
})

async function disturb(harness: Harness, whom: number, what: string): Promise<Harness> {
  const { engine } = harness
  const { tasks } = await engine.list(root, { limit: 100 })
  const taskId = tasks[whom % tasks.length]?.id ?? ''
  const refused = (error: unknown): void => {
    if (!isLullError(error)) throw error
  }
  if (what === 'crash') return harness.recover()
  if (what === 'restart') {
    let next: Harness | undefined
    const restarting = harness.restart().then((started) => {
      next = started
    })
    for (let turn = 0; next === undefined && turn < RESTART_TURNS; turn++) {
      await new Promise((go) => setImmediate(go))
    }
    if (next === undefined)
      throw new Error('nothing is in raw code: the process must stop without waiting for the clock')
    await restarting
    return next
  }
  if (what === 'pause') await engine.pause(alice, { taskId, graceMs: 0 }).catch(refused)
  if (what === 'cascade') {
    await engine.pause(alice, { taskId, graceMs: 0, cascade: true }).catch(refused)
  }
  if (what === 'resume') await engine.resume(alice, { taskId }).catch(refused)
  if (what === 'hold') await engine.hold(root, { scope: { all: true }, reason: 'x' })
  if (what === 'lift') {
    for (const { id } of await engine.holds(root)) await engine.lift(root, id)
  }
  return harness
}

/** Lets everyone go on until nothing moves any more. */
async function finish(harness: Harness): Promise<void> {
  const { engine } = harness
  for (const { id } of await engine.holds(root)) await engine.lift(root, id)
  for (let round = 0; round < 30; round++) {
    await harness.settled()
    const { tasks } = await engine.list(root, { limit: 100 })
    if (tasks.every((task) => isTerminal(task.state))) return
    for (const { id, suspension, pausing } of tasks) {
      if (suspension !== undefined || pausing !== undefined) {
        await engine.resume(alice, { taskId: id }).catch(() => undefined)
      }
    }
    harness.clock.advance(1_000)
  }
}
