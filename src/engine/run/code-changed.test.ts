import { describe, expect, it } from 'vitest'
import type { Json } from '../../core/json.ts'
import type { AgentTask } from '../agent-task.ts'
import { alice, createWorld, dataOf, effects, running, type World } from '../test-support/world.ts'

type Code = (task: AgentTask) => Promise<unknown>

const agentOf = (code: Code) =>
  running(async (task) => {
    await task.artifact({ name: 'result', data: ((await code(task)) ?? null) as Json })
  })

/** A task that stopped under the old code, and goes on under the new. */
async function deploy(before: Code, after: Code): Promise<{ world: World; id: string }> {
  const old = await createWorld({ agents: [agentOf(before)] })
  const { id } = await old.send('go')
  await old.until(id, (task) => task.suspension !== undefined || task.question !== undefined)
  const world = await old.restart({ agents: [agentOf(after)] })
  return { world, id }
}

const changed: readonly [string, Code, Code, (world: World, id: string) => Promise<unknown>][] = [
  [
    'a question',
    (task) => task.ask('Red?'),
    async (task) => (await task.ask('Blue?')).text,
    (world, id) => world.tell(id, 'yes'),
  ],
  [
    'the conditions of a park',
    (task) => task.park({ reason: 'x', onEvent: 'a' }),
    async (task) => (await task.park({ reason: 'x', onEvent: 'b' })).cause,
    (world, id) => world.engine.resume(alice, { taskId: id }),
  ],
  [
    'the operation that was consented to',
    (task) => task.requireConsent({ prompt: 'Pay?', operation: { amount: 1 } }),
    (task) => task.requireConsent({ prompt: 'Pay?', operation: { amount: 1_000 } }),
    async (world, id) => {
      const consentId = (await world.get(id)).question?.consent?.consentId ?? ''
      await world.tell(id, [{ data: { consentId, decision: 'granted' } }])
    },
  ],
]

describe('code that asks for something else than what is recorded', () => {
  it.each(changed)(
    '%s: stops the task by policy, and runs that entry anew when accepted',
    async (_name, before, after, goOn) => {
      const { world, id } = await deploy(before, after)
      const first = (await world.get(id)).state
      await goOn(world, id)
      const task = await world.until(id, 'paused-by-client')
      expect(task.suspension).toMatchObject({
        reason: 'code-changed',
        actor: { kind: 'policy', id: 'code-changed' },
        summary: expect.stringContaining('Resume'),
      })
      await world.engine.resume(alice, { taskId: id })
      await world.until(id, (now) => now.state === first)
      await goOn(world, id)
      await world.until(id, 'completed')
    },
  )

  it('can be given up instead', async () => {
    const { world, id } = await deploy(
      (task) => task.ask('Red?'),
      (task) => task.ask('Blue?'),
    )
    await world.tell(id, 'yes')
    await world.until(id, 'paused-by-client')
    await world.engine.cancel(alice, { taskId: id })
    expect((await world.get(id)).state).toBe('canceled')
  })

  it('a sleep of another length counts as another one', async () => {
    const { world, id } = await deploy(
      (task) => task.sleep(1_000),
      (task) => task.sleep(2_000),
    )
    await world.pass(1_000)
    await world.until(id, (task) => task.suspension?.reason === 'code-changed')
  })
})

describe('code that changed around what is recorded', () => {
  it('may add, remove and reorder steps: what is recorded is found by name', async () => {
    const done = effects()
    const step = (task: AgentTask, name: string) =>
      task.step(name, () => {
        done.note(name)
        return name
      })
    const { world, id } = await deploy(
      async (task) => {
        await step(task, 'a')
        await step(task, 'b')
        await task.park({ reason: 'x' })
      },
      async (task) => {
        const seen = [await step(task, 'new'), await step(task, 'b')]
        await task.park({ reason: 'x' })
        return [...seen, await step(task, 'c')]
      },
    )
    await world.engine.resume(alice, { taskId: id })
    const task = await world.until(id, 'completed')
    expect(dataOf(task, 'result')).toEqual(['new', 'b', 'c'])
    expect(done.list).toEqual(['a', 'b', 'new', 'c'])
  })
})
