import { describe, expect, it } from 'vitest'
import type { Json } from '../../../core/values/json.ts'
import type { AgentTask, StepOptions } from '../../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  type Harness,
  running,
  signal,
} from '../../test-support/engine-harness.ts'

type Code = (task: AgentTask) => Promise<unknown>

const agentOf = (code: Code) =>
  running(async (task) => {
    await task.artifact({ name: 'result', data: ((await code(task)) ?? null) as Json })
  })

/** A task that stopped under the old code, and goes on under the new. */
async function deploy(before: Code, after: Code): Promise<{ harness: Harness; id: string }> {
  const old = await createHarness({ agents: [agentOf(before)] })
  const { id } = await old.send('go')
  await old.until(id, (task) => task.suspension !== undefined || task.question !== undefined)
  const harness = await old.restart({ agents: [agentOf(after)] })
  return { harness, id }
}

const changed: readonly [string, Code, Code, (harness: Harness, id: string) => Promise<unknown>][] =
  [
    [
      'a question',
      (task) => task.ask('Red?'),
      async (task) => (await task.ask('Blue?')).text,
      (harness, id) => harness.tell(id, 'yes'),
    ],
    [
      'the conditions of a park',
      (task) => task.park({ reason: 'x', onEvent: 'a' }),
      async (task) => (await task.park({ reason: 'x', onEvent: 'b' })).cause,
      (harness, id) => harness.engine.resume(alice, { taskId: id }),
    ],
    [
      'the operation that was consented to',
      (task) => task.requireConsent({ prompt: 'Pay?', operation: { amount: 1 } }),
      (task) => task.requireConsent({ prompt: 'Pay?', operation: { amount: 1_000 } }),
      async (harness, id) => {
        const consentId = (await harness.get(id)).question?.consent?.consentId ?? ''
        await harness.tell(id, [{ data: { consentId, decision: 'granted' } }])
      },
    ],
  ]

describe('code that asks for something else than what is recorded', () => {
  it.each(changed)(
    '%s: stops the task by policy, and runs that entry anew when accepted',
    async (_name, before, after, goOn) => {
      const { harness, id } = await deploy(before, after)
      const first = (await harness.get(id)).state
      await goOn(harness, id)
      const task = await harness.until(id, 'paused-by-client')
      expect(task.suspension).toMatchObject({
        reason: 'code-changed',
        actor: { kind: 'policy', id: 'code-changed' },
        summary: expect.stringContaining('Resume'),
      })
      await harness.engine.resume(alice, { taskId: id })
      await harness.until(id, (now) => now.state === first)
      await goOn(harness, id)
      await harness.until(id, 'completed')
    },
  )

  it('can be given up instead', async () => {
    const { harness, id } = await deploy(
      (task) => task.ask('Red?'),
      (task) => task.ask('Blue?'),
    )
    await harness.tell(id, 'yes')
    await harness.until(id, 'paused-by-client')
    await harness.engine.cancel(alice, { taskId: id })
    expect((await harness.get(id)).state).toBe('canceled')
  })

  it('a sleep of another length counts as another one', async () => {
    const { harness, id } = await deploy(
      (task) => task.sleep(1_000),
      (task) => task.sleep(2_000),
    )
    await harness.pass(1_000)
    await harness.until(id, (task) => task.suspension?.reason === 'code-changed')
  })
})

/** Every execution of a step by its name, and the code written with it. */
function counted() {
  const done = effects()
  const step = (task: AgentTask, name: string, options: StepOptions = {}) =>
    task.step(
      name,
      () => {
        done.note(name)
        return name
      },
      options,
    )
  return { done, step }
}

/** Resumes the park, and lets the run stand still. */
async function goOn(harness: Harness, id: string): Promise<void> {
  await harness.engine.resume(alice, { taskId: id })
  await harness.pass(1_000)
}

describe('code that changed around what is recorded (unclaimed.ts)', () => {
  it('may remove and reorder steps, and add some behind the stop', async () => {
    const { done, step } = counted()
    const { harness, id } = await deploy(
      async (task) => {
        await step(task, 'a')
        await step(task, 'b')
        await step(task, 'c')
        await task.park({ reason: 'x' })
      },
      async (task) => {
        const seen = [await step(task, 'c'), await step(task, 'a')]
        await task.park({ reason: 'x' })
        return [...seen, await step(task, 'd')]
      },
    )
    await goOn(harness, id)
    const task = await harness.until(id, 'completed')
    expect(dataOf(task, 'result')).toEqual(['c', 'a', 'd'])
    expect(done.list).toEqual(['a', 'b', 'c', 'd'])
  })

  it('never runs a renamed step silently: it stops, names both, and runs once when accepted', async () => {
    const { done, step } = counted()
    const { harness, id } = await deploy(
      async (task) => {
        await step(task, 'charge')
        await task.park({ reason: 'x' })
      },
      async (task) => {
        await step(task, 'charge the card')
        await task.park({ reason: 'x' })
      },
    )
    await goOn(harness, id)
    const task = await harness.until(id, 'paused-by-client')
    expect(task.suspension).toMatchObject({
      reason: 'code-changed',
      actor: { kind: 'policy', id: 'code-changed' },
      summary: expect.stringMatching(/step "charge the card".*step "charge"/),
    })
    expect(done.list).toEqual(['charge'])
    await goOn(harness, id)
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['charge', 'charge the card'])
  })

  it('stops again at the next renamed step, also after a crash: accepting one accepts no other', async () => {
    const { done, step } = counted()
    const { harness, id } = await deploy(
      async (task) => {
        for (const name of ['a', 'b', 'c']) await step(task, name)
        await task.park({ reason: 'x' })
      },
      async (task) => {
        await task.say('new')
        for (const name of ['a2', 'b2', 'c2']) await step(task, name)
        await task.park({ reason: 'x' })
      },
    )
    let now = harness
    for (const name of ['a2', 'b2', 'c2']) {
      await goOn(now, id)
      const { suspension } = await now.until(id, 'paused-by-client')
      expect(suspension?.summary).toContain(`step "${name}"`)
      now = await now.recover()
    }
    expect(done.list).toEqual(['a', 'b', 'c', 'a2', 'b2'])
    await goOn(now, id)
    await now.until(id, 'completed')
  })

  it.each<[string, StepOptions, 'stop' | 'run']>([
    ['step', { added: true }, 'stop'],
    ['agent', {}, 'run'],
  ])('runs an added step that its author allows for the %s', async (_name, options, newSteps) => {
    const { done, step } = counted()
    const old = await createHarness({
      agents: [
        running(async (task) => {
          await step(task, 'a')
          await task.park({ reason: 'x' })
        }),
      ],
    })
    const { id } = await old.send('go')
    await old.until(id, 'paused-by-agent')
    const added = async (task: AgentTask): Promise<void> => {
      await step(task, 'added', options)
      await step(task, 'a')
      await task.park({ reason: 'x' })
    }
    const harness = await old.restart({ agents: [running(added, { newSteps })] })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['a', 'added'])
  })

  it('finds a step that was renamed in a parallel branch, while another branch is ahead', async () => {
    const { done, step } = counted()
    const hung = signal()
    const code = (name: string, live: boolean) => async (task: AgentTask) => {
      const left = async (): Promise<void> => {
        await step(task, 'b1')
        await step(task, name)
        await step(task, 'b3')
      }
      const right = async (): Promise<void> => {
        for (const one of ['a1', 'a2', 'a3', 'a4']) await step(task, one)
        await task.step('in flight', () => (live ? undefined : hung.promise))
      }
      await Promise.all([left(), right()])
    }
    const old = await createHarness({ agents: [running(code('b2', false))] })
    const { id } = await old.send('go')
    await old.settled()
    const harness = await old.recover({ agents: [running(code('renamed', true))] })
    await harness.pass(1_000)
    await harness.pass(1_000)
    expect((await harness.get(id)).suspension).toMatchObject({ reason: 'code-changed' })
    expect(done.count('renamed')).toBe(0)
  })

  it('finds a step that was renamed inside a step that was running', async () => {
    const { done, step } = counted()
    const hung = signal()
    const code = (name: string, live: boolean) => (task: AgentTask) =>
      task.step('outer', async () => {
        await step(task, name)
        if (!live) await hung.promise
      })
    const old = await createHarness({ agents: [running(code('inner', false))] })
    const { id } = await old.send('go')
    await old.settled()
    const harness = await old.recover({ agents: [running(code('renamed', true))] })
    await harness.pass(1_000)
    // The outer step is in flight, and waits for the one inside.
    const task = await harness.get(id)
    expect((task.suspension ?? task.pausing)?.reason).toBe('code-changed')
    expect(done.list).toEqual(['inner'])
  })

  it('waits for a branch that waits for what is not journaled', async () => {
    const { done, step } = counted()
    const hung = signal()
    const code = (live: boolean) => async (task: AgentTask) => {
      const late = async (): Promise<void> => {
        for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next))
        await step(task, 'late')
      }
      await Promise.all([task.step('in flight', () => (live ? undefined : hung.promise)), late()])
    }
    const old = await createHarness({ agents: [running(code(false))] })
    const { id } = await old.send('go')
    await old.settled()
    const harness = await old.recover({ agents: [running(code(true))] })
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['late'])
  })
})

describe('names that look like keys (K1, K2 of keys.ts)', () => {
  it('K1: a step named like a key inside another step is another step', async () => {
    const { done, step } = counted()
    const agents = [
      running(async (task) => {
        await task.step('x', () => step(task, 'y'))
        await step(task, 'x#1/step:y')
        await task.park({ reason: 'x' })
      }),
    ]
    const harness = await createHarness({ agents, options: { warmForMs: 0 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await goOn(harness, id)
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['y', 'x#1/step:y'])
    const keys = (await harness.log(id)).flatMap((one) => (one.type === 'step' ? [one.key] : []))
    expect(new Set(keys).size).toBe(3)
  })

  it('K2: a name without the characters of a key is spelled as it is, and one with them is escaped', async () => {
    const names = ['plain', 'a b:c', 'a/b', 'issue #12', '100%', 'wow!']
    const { done, step } = counted()
    const agents = [
      running(async (task) => {
        for (const name of names) await step(task, name)
        await task.park({ reason: 'x' })
      }),
    ]
    const harness = await createHarness({ agents, options: { warmForMs: 0 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const keys = (await harness.log(id)).flatMap((one) => (one.type === 'step' ? [one.key] : []))
    expect(keys).toEqual([
      'step:plain#1',
      'step:a b:c#1',
      'step:a%2Fb#1',
      'step:issue %2312#1',
      'step:100%25#1',
      'step:wow%21#1',
    ])
    await goOn(harness, id)
    await harness.until(id, 'completed')
    expect(done.list).toEqual(names)
  })
})
