/** Agent code can throw any value. It ends as a failure of the operation or the task, and nothing stays taken. */
import { describe, expect, it } from 'vitest'
import { awkwardValues } from '../../../core/test-support/awkward-values.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import { createHarness, type Harness, olga, running } from '../../test-support/engine-harness.ts'

type Throwing = (task: AgentTask, thrown: () => never) => unknown

const places: Readonly<Record<string, Throwing>> = {
  run: (_task, thrown) => thrown(),
  'a step': (task, thrown) => task.step('bad', thrown),
  'a retried step': (task, thrown) =>
    task.step('bad', thrown, { retry: { attempts: 1, backoffMs: 0 } }),
  'a turn': (task, thrown) => task.turn(thrown),
  'a tool': (task, thrown) => task.turn((turn) => turn.tool('bad', thrown)),
  'a step in a step': (task, thrown) => task.step('outer', () => task.step('bad', thrown)),
}

const cases = Object.keys(places).flatMap((place) =>
  Object.keys(awkwardValues).map((value): [string, string] => [place, value]),
)

/** The agent can do one task at a time: a slot that is not given back is noticed. */
async function harnessOf(run: (task: AgentTask) => unknown): Promise<Harness> {
  const agent = running((task) => (task.text === 'bad' ? run(task) : 'fine') as Promise<string>)
  return createHarness({ agents: [agent], options: { concurrency: 1 } })
}

async function expectFree(harness: Harness): Promise<void> {
  const { id } = await harness.send('good')
  await harness.pass(5_000)
  expect((await harness.get(id)).state).toBe('completed')
  expect((await harness.engine.health()).runs.busy).toBe(0)
}

describe('a thrown value that is not an error', () => {
  it.each(cases)('from %s fails the task: %s', async (place, value) => {
    const thrown = (): never => {
      throw awkwardValues[value]?.()
    }
    const harness = await harnessOf((task) => places[place]?.(task, thrown))
    const { id } = await harness.send('bad')
    await harness.pass(5_000)
    const task = await harness.get(id)
    expect(task.state).toBe('failed')
    expect(task.failure?.message).toEqual(expect.any(String))
    expect(harness.said.filter(({ text }) => text === 'an agent failed')).toHaveLength(1)
    expect(harness.said.filter(({ level }) => level === 'error')).toEqual([])
    await expectFree(harness)
  })

  it.each(Object.keys(awkwardValues))('that a step throws can be caught: %s', async (value) => {
    const harness = await harnessOf(async (task) => {
      const caught = await task
        .step('bad', () => {
          throw awkwardValues[value]?.()
        })
        .catch((error: unknown) => error)
      expect(caught).toBeInstanceOf(Error)
      // The gate is free: a pause can commit here.
      await task.park({ reason: 'a park needs a run that stands still' })
    })
    const { id } = await harness.send('bad')
    await harness.pass(0)
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.engine.resume(olga, { taskId: id })
    await harness.pass(0)
    expect((await harness.get(id)).state).toBe('completed')
    await expectFree(harness)
  })
})
