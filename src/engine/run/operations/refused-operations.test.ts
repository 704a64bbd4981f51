/** An operation that is refused or fails and that the author catches leaves nothing behind: the run can stop and go on. */
import { describe, expect, it } from 'vitest'
import { textOf } from '../../../core/messages/message.ts'
import type { AgentDefinition } from '../../author/agent.ts'
import type { ArtifactInput, AgentTask as Task } from '../../author/agent-task.ts'
import { alice, createHarness, running } from '../../test-support/engine-harness.ts'

/** As a program without types can call it. */
const bad = (value: unknown): never => value as never

const circle: Record<string, unknown> = {}
circle['me'] = circle
const hostile = new Proxy({}, { get: fail, ownKeys: fail, getPrototypeOf: fail })

function fail(): never {
  throw new Error('do not look at me')
}

const refused: Readonly<Record<string, (task: Task) => unknown>> = {
  'an artifact whose metadata is no JSON': (task) =>
    task.artifact({ name: 'a', text: 'a', metadata: bad({ at: new Map() }) }),
  'an artifact whose metadata is a circle': (task) =>
    task.artifact({ name: 'a', text: 'a', metadata: bad(circle) }),
  'an artifact whose data is no JSON': (task) => task.artifact({ name: 'a', data: bad(1n) }),
  'an artifact without a name that is a text': (task) => task.artifact({ name: bad(7), text: 'a' }),
  'an artifact id that is no text': (task) => task.artifact({ artifactId: bad(7), text: 'a' }),
  'an artifact that throws when it is read': (task) => task.artifact(hostile as ArtifactInput),
  'no artifact': (task) => task.artifact(bad(undefined)),
  'a stream of no text': (task) => task.artifactStream('s').write(bad(circle)),
  'a stream about no JSON': (task) =>
    task.artifactStream('s', { metadata: bad({ at: 1n }) }).write('x'),
  'something said that is no part': (task) => task.say(bad([{ nothing: 1 }])),
  'nothing said': (task) => task.say(bad(undefined)),
  'progress of no number': (task) => task.progress(bad('half')),
  'progress with no text': (task) => task.progress(0.5, bad(circle)),
  'usage of no number': (task) => task.usage(bad({ costUsd: 'much' })),
  'a child of no agent': (task) => task.delegate('nobody', 'x'),
  'a child without a message': (task) => task.delegate('worker', bad(circle)),
  'a park without a reason': (task) => task.park(bad({})),
  'a park on a wrong schedule': (task) => task.park({ reason: 'x', trigger: bad({ cron: 'x' }) }),
  'a sleep of no number': (task) => task.sleep(bad('long')),
  'a question that is no part': (task) => task.ask(bad([{}])),
  'consent to no JSON': (task) => task.requireConsent({ prompt: 'x', operation: bad(circle) }),
  'a state that is no JSON': (task) => task.continueAs(bad(circle)),
  'a step with a name that is no text': (task) => task.step(bad(circle), () => 1),
  'a tool with a name that is no text': (task) =>
    task.turn((turn) => turn.tools([{ name: bad(circle), run: () => 1 }])),
  'a step that is no function': (task) => task.step('x', bad(7)),
  'a turn that is no function': (task) => task.turn(bad(7)),
  'a record of the transcript that is no JSON': (task) =>
    task.turn((turn) => turn.record('agent', bad(circle))),
  'a tool that is no function': (task) => task.turn((turn) => turn.tool('x', bad(7))),
  'a batch that is no list': (task) => task.turn((turn) => turn.tools(bad(7))),
}

/** The agent has one slot: one that is not given back is noticed. */
async function harnessOf(call: (task: Task) => unknown, some: Partial<AgentDefinition> = {}) {
  const caught: unknown[] = []
  const agent = running(async (task) => {
    if (task.text === 'good') return 'fine'
    try {
      await call(task)
    } catch (error) {
      caught.push(error)
    }
    await task.step('after', () => 1)
    await task.park({ reason: 'waiting' })
    return 'done'
  }, some)
  const harness = await createHarness({
    agents: [agent],
    options: { concurrency: 1, warmForMs: 0 },
  })
  return { harness, caught }
}

describe('after an operation that was refused and caught', () => {
  it.each(Object.entries(refused))('the task parks, goes on and ends: %s', async (_name, call) => {
    const { harness, caught } = await harnessOf(call)
    const { id } = await harness.send('bad')
    await harness.pass(0)
    const parked = await harness.get(id)
    expect([parked.state, parked.suspension?.reason]).toEqual(['paused-by-agent', 'waiting'])
    expect(caught).toHaveLength(1)
    // Rebuilt from the journal, it meets the same refusal and does nothing twice.
    await harness.engine.resume(alice, { taskId: id })
    await harness.pass(0)
    expect((await harness.get(id)).state).toBe('completed')
    expect((await harness.types(id)).filter((type) => type === 'step').length).toBeGreaterThan(0)
    const good = await harness.send('good')
    await harness.pass(0)
    expect((await harness.get(good.id)).state).toBe('completed')
    expect((await harness.engine.health()).runs).toMatchObject({ busy: 0 })
  })

  it.each(Object.entries(refused))('inside a step the task goes on: %s', async (_name, call) => {
    const { harness } = await harnessOf((task) => task.step('outer', () => call(task) as never))
    const { id } = await harness.send('bad')
    await harness.pass(0)
    expect(await harness.get(id)).toMatchObject({ suspension: { reason: 'waiting' } })
  })
})

const circular: unknown[] = []
circular.push(circular)

describe("an agent's own digest or compact that fails", () => {
  it.each<[string, Partial<AgentDefinition>]>([
    ['a digest that throws', { digest: fail }],
    ['a digest that is no text', { digest: () => bad(circle) }],
    ['a compact that throws', { compact: fail }],
    ['a compact that is no transcript', { compact: () => bad([{ role: 'agent' }]) }],
    ['a compact that is a circle', { compact: () => bad(circular) }],
  ])(
    'is logged, and replaced by the default once, also for a rebuilt run: %s',
    async (_name, some) => {
      let calls = 0
      const counted = Object.entries(some).map(([name, code]) => {
        const call = (): unknown => {
          calls++
          return (code as () => unknown)()
        }
        return [name, call]
      })
      const agent = running(async (task) => {
        await task.park({ reason: 'first' })
        await task.turn((turn) => turn.record('agent', 'thinking'))
        await task.compact()
        await task.park({ reason: 'second' })
        return task.turn((turn) => turn.transcript.map(({ role }) => role).join())
      }, Object.fromEntries(counted))
      const harness = await createHarness({ agents: [agent], options: { warmForMs: 0 } })
      const { id } = await harness.send('go')
      await harness.until(id, 'paused-by-agent')
      await harness.engine.resume(alice, { taskId: id, continueTranscript: false })
      await harness.until(id, (task) => task.suspension?.reason === 'second')
      await harness.engine.resume(alice, { taskId: id })
      const task = await harness.until(id, 'completed')
      expect(textOf(task.statusMessage ?? { parts: [] })).toBe('digest,user,agent')
      expect(calls).toBe(1)
      const errors = harness.said.filter(({ level }) => level === 'error')
      expect(errors.map(({ text }) => text)).toEqual([
        expect.stringContaining('the default takes its place'),
      ])
    },
  )
})
