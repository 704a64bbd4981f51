/** When a run needs a slot: the invariants W1 to W3 of gate.ts, and X4 of execution.ts. */
import { describe, expect, it } from 'vitest'
import type { Agent } from '../author/agent.ts'
import type { AgentTask, Child } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  effects,
  type Harness,
  olga,
  running,
  signal,
} from '../test-support/engine-harness.ts'

const concurrencyOne = { concurrency: 1 }

/** The child does what `child` says; the parent what `parent` says. Both need the only slot of the agent. */
function family(
  parent: (task: AgentTask, delegate: () => Promise<Child>) => Promise<unknown>,
  child: (task: AgentTask) => Promise<unknown> = async (task) => task.step('work', () => 1),
): Agent {
  return running(async (task) => {
    if (task.text === 'child') {
      await child(task)
      return 'child done'
    }
    await parent(task, () => task.delegate('worker', 'child'))
    return 'parent done'
  })
}

async function untilCompleted(harness: Harness, seconds = 5): Promise<void> {
  const { id } = await harness.send('parent')
  for (let second = 0; second < seconds; second++) await harness.pass(1_000)
  expect((await harness.get(id)).state).toBe('completed')
  expect((await harness.engine.health()).runs).toMatchObject({ live: 0, busy: 0 })
}

const ended = async (child: Child): Promise<string> => (await child.result()).state
const watched = async (child: Child): Promise<number> => {
  let count = 0
  for await (const _record of child.watch()) count++
  return count
}

const places: Record<string, (task: AgentTask, wait: () => Promise<unknown>) => Promise<unknown>> =
  {
    'a step': (task, wait) => task.step('outer', async () => void (await wait())),
    'a step in a step': (task, wait) =>
      task.step('outer', () => task.step('inner', async () => void (await wait()))),
    'a tool': (task, wait) =>
      task.turn((turn) => turn.tool('wait', async () => void (await wait()))),
    'a batch beside a tool that works': (task, wait) =>
      task.turn((turn) =>
        turn.tools([
          { name: 'works', run: () => 1 },
          { name: 'waits', run: async () => void (await wait()) },
          { name: 'works too', run: () => 2 },
        ]),
      ),
    'a step beside one that works': (task, wait) =>
      Promise.all([
        task.step('outer', async () => void (await wait())),
        task.step('beside', () => new Promise((done) => setImmediate(done, 1))),
      ]),
    'a step beside a park': (task, wait) =>
      Promise.all([task.step('outer', async () => void (await wait())), task.sleep(1_000)]),
  }

describe('a parent that waits for its child inside a step', () => {
  for (const [place, inPlace] of Object.entries(places)) {
    it.each([
      ['result', 0],
      ['result', 60_000],
      ['watch', 0],
      ['watch', 60_000],
    ])(`W1, X4: gives its slot back in ${place} (%s, warm for %i ms)`, async (how, warmForMs) => {
      const wait = how === 'result' ? ended : watched
      const agent = family(async (task, delegate) => {
        const child = await delegate()
        await inPlace(task, () => wait(child))
      })
      const options = { ...concurrencyOne, warmForMs }
      await untilCompleted(await createHarness({ agents: [agent], options }))
    })
  }

  it('W1: keeps its slot while another operation of it works', async () => {
    const done = signal()
    const seen = effects()
    const agent = family(
      async (task, delegate) => {
        const child = await delegate()
        await Promise.all([
          task.step('waits', async () => void (await child.result())),
          task.step('works', async () => {
            await done.promise
            seen.note('parent worked')
            return 1
          }),
        ])
      },
      async () => seen.note('child ran'),
    )
    const harness = await createHarness({ agents: [agent], options: concurrencyOne })
    const { id } = await harness.send('parent')
    await harness.pass(1_000)
    expect(seen.list).toEqual([])
    done.fire()
    await harness.until(id, 'completed')
    expect(seen.list).toEqual(['parent worked', 'child ran'])
  })

  it('W2: goes on only when it has a slot again', async () => {
    const blocker = signal()
    const seen = effects()
    const agent = running(async (task) => {
      if (task.text === 'child') return
      if (task.text === 'other') {
        await task.step('blocks', async () => {
          seen.note('other began')
          await blocker.promise
        })
        return
      }
      await task.step('waits', async () => {
        const child = await task.delegate('worker', 'child')
        await child.result()
        seen.note('parent went on')
      })
    })
    const harness = await createHarness({ agents: [agent], options: concurrencyOne })
    const { id } = await harness.send('parent')
    const other = await harness.send('other')
    await harness.pass(1_000)
    expect(seen.list.at(0)).toBe('other began')
    expect(seen.list).not.toContain('parent went on')
    blocker.fire()
    await harness.until(other.id, 'completed')
    await harness.until(id, 'completed')
  })

  it('W2: a step that times out in its wait hands out nothing without a slot', async () => {
    const blocker = signal()
    const seen = effects()
    const agent = family(
      async (task, delegate) => {
        const child = await delegate()
        await task
          .step('waits', async () => void (await child.result()), { timeoutMs: 1_000 })
          .catch(() => undefined)
        seen.note('parent went on')
        await task.step('after', () => 1)
      },
      async (task) => {
        await task.step('work', () => blocker.promise.then(() => 1))
        seen.note('child ended')
      },
    )
    const harness = await createHarness({ agents: [agent], options: concurrencyOne })
    const { id } = await harness.send('parent')
    await harness.pass(2_000)
    expect(seen.list).toEqual([])
    blocker.fire()
    await harness.until(id, 'completed')
    expect(seen.list).toEqual(['child ended', 'parent went on'])
  })

  it('W2: code beside a wait asks for a slot before it acts', async () => {
    const timer = signal()
    const blocker = signal()
    const seen = effects()
    const agent = family(
      async (task, delegate) => {
        const child = await delegate()
        const beside = async (): Promise<void> => {
          await timer.promise
          await task.step('beside', () => seen.note('parent acted'))
        }
        await Promise.all([child.result(), beside()])
      },
      async (task) => {
        await task.step('work', () => blocker.promise.then(() => 1))
        seen.note('child ended')
      },
    )
    const harness = await createHarness({ agents: [agent], options: concurrencyOne })
    const { id } = await harness.send('parent')
    await harness.settled()
    timer.fire()
    await harness.pass(1_000)
    expect(seen.list).toEqual([])
    blocker.fire()
    await harness.until(id, 'completed')
    expect(seen.list).toEqual(['child ended', 'parent acted'])
  })

  it('W3: is not evicted, so that the step does not run again', async () => {
    const seen = effects()
    const agent = family(
      (task, delegate) =>
        task.step('waits', async () => {
          seen.note('began')
          await (await delegate()).result()
        }),
      (task) => task.ask('?'),
    )
    const harness = await createHarness({
      agents: [agent],
      options: { ...concurrencyOne, warmForMs: 0 },
    })
    const { id } = await harness.send('parent')
    await harness.pass(3_600_000)
    expect((await harness.engine.health()).runs).toMatchObject({ live: 1, busy: 0 })
    const [childId = ''] = (await harness.get(id)).children
    await harness.tell(childId, 'yes')
    await harness.until(id, 'completed')
    expect(seen.list).toEqual(['began'])
  })

  it('can be interrupted there while its child has the only slot, and waits again afterwards', async () => {
    const blocker = signal()
    const seen = effects()
    const agent = family(
      (task, delegate) =>
        task.step('waits', async () => {
          seen.note('began')
          await (await delegate()).result()
        }),
      (task) => task.step('work', () => blocker.promise.then(() => 1)),
    )
    const harness = await createHarness({ agents: [agent], options: concurrencyOne })
    const { id } = await harness.send('parent')
    await harness.settled()
    const mode = 'interrupt_immediate'
    await harness.engine.pause(alice, { taskId: id, mode, graceMs: 0 })
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-client')
    blocker.fire()
    await harness.engine.resume(alice, { taskId: id })
    const task = await harness.until(id, 'completed')
    expect(task.children).toHaveLength(1)
    expect(seen.list).toEqual(['began', 'began'])
  })

  it('finishes the step before a pause that lets steps finish', async () => {
    const seen = effects()
    const agent = family(
      async (task, delegate) => {
        const child = await delegate()
        await Promise.all([
          task.step('waits', async () => void (await child.result())),
          task.step('fast', () => 1).then(() => task.step('behind', () => seen.note('behind'))),
        ])
      },
      (task) => task.ask('?'),
    )
    const harness = await createHarness({ agents: [agent], options: concurrencyOne })
    const { id } = await harness.send('parent')
    await harness.until(id, (task) => task.children.length > 0)
    await harness.engine.pause(alice, { taskId: id, graceMs: 0 })
    await harness.settled()
    const [childId = ''] = (await harness.get(id)).children
    await harness.until(childId, 'input-required')
    await harness.tell(childId, 'yes')
    await harness.until(id, 'paused-by-client')
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(seen.list).toEqual(['behind'])
  })

  it('is held together with its child', async () => {
    const agent = family(
      (task, delegate) => task.step('waits', async () => void (await (await delegate()).result())),
      (task) => task.ask('?'),
    )
    const harness = await createHarness({ agents: [agent], options: concurrencyOne })
    const { id } = await harness.send('parent')
    await harness.settled()
    await harness.engine.hold(olga, { scope: { tenant: 'acme' }, reason: 'stop' })
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-client')
    for (const hold of await harness.engine.holds(olga)) await harness.engine.lift(olga, hold.id)
    const [childId = ''] = (await harness.get(id)).children
    await harness.tell(childId, 'yes')
    await harness.until(id, 'completed')
  })
})
