/** What Pause & Resume (Bindu) promises and its own tests never tried, against a running server. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import {
  begunSteps,
  binduAgents,
  binduOn,
  effects,
  notFound,
  notPausable,
  notResumable,
} from './bindu-tasks.ts'
import type { Loose } from './examples.ts'
import { openGuardedServer } from './guarded-server.ts'
import { type Harness, openHarness } from './harness.ts'

/** The steps of the agent `staged` end when this clock says so. */
const clock = createManualClock()
const LONG = 1_000

let harness: Harness
const bindu = binduOn(() => harness)

beforeAll(async () => {
  harness = await openHarness({
    agents: [...binduAgents, createScriptAgent({ name: 'staged', clock, effects })],
  })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

/** A task in the middle of its step `two`. */
async function inStepTwo(): Promise<string> {
  const script = [{ step: 'one' }, { step: 'two', ms: LONG }, { step: 'three' }]
  const { id } = await harness.script(script, {}, 'staged')
  await expect.poll(() => begunSteps(id)).toEqual(['one', 'two'])
  return id
}

async function pauseInStep(id: string): Promise<Loose> {
  const answer = bindu.pause(id)
  await expect.poll(async () => (await bindu.get(id)).metadata?.pausing).toBe(true)
  clock.advance(LONG)
  return answer
}

describe('a pause', () => {
  it('stops the handler: nothing runs once the answer says suspended', async () => {
    const id = await bindu.suspended()
    const frozen = begunSteps(id).length
    // Time enough for another task to make many steps.
    const other = await bindu.inState('working')
    await expect.poll(() => begunSteps(other).length).toBeGreaterThan(20)
    expect(begunSteps(id)).toHaveLength(frozen)
  })

  it('is answered when the running step is over, and says the truth until then', async () => {
    const id = await inStepTwo()
    const suspended = await pauseInStep(id)
    expect(suspended.status.state).toBe('suspended')
    expect(begunSteps(id)).toEqual(['one', 'two'])
  })

  it('of a queued task takes effect at once, though another task keeps the agent busy', async () => {
    const id = await bindu.inState('submitted')
    expect((await bindu.pause(id)).status.state).toBe('suspended')
    expect((await bindu.resume(id)).status.state).toBe('resumed')
    expect(begunSteps(id)).toEqual([])
  })

  it('is not ended by a message, which waits for the resume', async () => {
    const id = await bindu.suspended()
    const steps = begunSteps(id).length
    await harness.say('go on!', { taskId: id })
    const { status, metadata } = await bindu.get(id)
    expect(status.state).toBe('suspended')
    expect(metadata.checkpoint.message_history.at(-1).parts).toEqual([
      { kind: 'text', text: 'go on!' },
    ])
    expect(begunSteps(id)).toHaveLength(steps)
  })
})

describe('a resume', () => {
  it('goes on after the last finished step, and repeats none', async () => {
    const id = await inStepTwo()
    await pauseInStep(id)
    await bindu.resume(id)
    await harness.until(id, 'completed')
    expect(begunSteps(id)).toEqual(['one', 'two', 'three'])
  })

  it('brings a question back without asking it again', async () => {
    const id = await bindu.inState('input-required')
    const asked = await bindu.get(id)
    await bindu.pause(id)
    expect((await bindu.resume(id)).status.state).toBe('resumed')
    const { status, history } = await bindu.get(id)
    expect([status.state, status.message]).toEqual(['input-required', asked.status.message])
    expect(history).toEqual(asked.history)
    await harness.say('this one', { taskId: id })
    const { artifacts } = await harness.until(id, 'completed')
    expect(artifacts[0].parts[0].data).toEqual({ text: 'this one' })
  })

  it('is won by one of two that race, and the work is done once', async () => {
    const { id } = await harness.script([{ park: { reason: 'approval' } }, { step: 'pay' }])
    await harness.until(id, 'paused-by-agent')
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => harness.call('tasks/resume', { task_id: id })),
    )
    const won = answers.filter(({ result }) => result !== undefined)
    expect(won.map(({ result }) => result.status.state)).toEqual(['resumed'])
    const lost = answers.flatMap(({ error }) => (error === undefined ? [] : [error]))
    expect(lost.map(({ code, data }) => [code, data.error])).toEqual(lost.map(() => notResumable))
    await harness.until(id, 'completed')
    expect(begunSteps(id)).toEqual(['pay'])
  })

  it('needs no handle, and wakes a task that parked itself', async () => {
    const id = await bindu.inState('paused-by-agent')
    expect((await bindu.get(id)).status.state).toBe('suspended')
    expect((await bindu.resume(id)).status.state).toBe('resumed')
    await harness.until(id, 'completed')
  })
})

describe('a server that stops', () => {
  it('leaves the suspended task, its checkpoint and its place to the next one', async () => {
    await using other = await openHarness({ agents: binduAgents })
    const there = binduOn(() => other)
    const { id } = await other.script([{ step: 'one' }, { ask: 'Go on?' }, { step: 'two' }])
    await other.until(id, 'input-required')
    const suspended = await there.pause(id)
    await other.restart()
    expect(await there.get(id)).toEqual(suspended)
    await there.resume(id)
    await other.say('yes', { taskId: id })
    await other.until(id, 'completed')
    expect(begunSteps(id)).toEqual(['one', 'two'])
  })
})

describe('somebody else', () => {
  const methods = ['tasks/get', 'tasks/pause', 'tasks/resume', 'tasks/cancel']

  it('in another tenant finds nothing, and changes nothing', async () => {
    const id = await bindu.suspended()
    const before = await bindu.get(id)
    for (const method of methods) {
      const { code, data } = await harness.error(method, { task_id: id, tenant: 'other' })
      expect([code, data.error], method).toEqual(notFound)
    }
    expect(await bindu.get(id)).toEqual(before)
  })

  it('in the same tenant finds nothing either, whatever they may do with their own tasks', async () => {
    await using server = await openGuardedServer()
    const scopes = ['tasks:read', 'tasks:write', 'tasks:control']
    const ann = { name: 'ann', scopes }
    const parts = [{ kind: 'data', data: { script: [{ ask: 'Which?' }] } }]
    const message = { role: 'user', messageId: randomUUID(), parts }
    const task_id = (await server.call(ann, 'message/send', { message })).answer.result.id
    await server.call(ann, 'tasks/pause', { task_id })
    for (const who of [
      { name: 'bob', scopes },
      { ...ann, tenant: 'other' },
    ]) {
      for (const method of methods) {
        const { code, data } = (await server.call(who, method, { task_id })).answer.error
        expect([code, data.error], method).toEqual(notFound)
      }
    }
    const { status } = (await server.call(ann, 'tasks/get', { task_id })).answer.result
    expect(status.state).toBe('suspended')
  })
})

describe('configured otherwise, it', () => {
  it('pauses only from the states the operator left', async () => {
    const config = { a2a: { binduPausableStates: ['working'] } }
    await using other = await openHarness({ agents: binduAgents, config })
    const there = binduOn(() => other)
    const { id } = await other.script([{ ask: 'Which?' }])
    await other.until(id, 'input-required')
    expect(await other.error('tasks/pause', { task_id: id })).toMatchObject({
      code: -32040,
      message: expect.stringContaining('Tasks can only be paused while working.'),
    })
    expect(await there.refusal('tasks/pause', await there.inState('submitted'))).toEqual(
      notPausable,
    )
    expect((await there.pause(await there.inState('working'))).status.state).toBe('suspended')
  })

  it('asks for no handle where the RFC’s resume must name one', async () => {
    const config = { engine: { requireHandle: true } }
    await using other = await openHarness({ agents: binduAgents, config })
    const there = binduOn(() => other)
    const id = await there.suspended()
    expect((await other.error('tasks/resume', { taskId: id })).code).toBe(-32602)
    expect((await there.resume(id)).status.state).toBe('resumed')
  })

  it('says working and pausing when a step outlasts the grace time, and refuses a second pause', async () => {
    const config = { engine: { graceMs: 1 } }
    const agents = [createScriptAgent({ clock, effects })]
    await using other = await openHarness({ agents, config })
    const there = binduOn(() => other)
    const { id } = await other.script([{ step: 'long', ms: LONG }, { ask: 'More?' }])
    await expect.poll(() => begunSteps(id)).toEqual(['long'])
    const { status, metadata } = await there.pause(id)
    expect([status.state, metadata]).toEqual(['working', { pausing: true }])
    expect(await other.error('tasks/pause', { task_id: id })).toMatchObject({
      code: -32040,
      message: expect.stringContaining('paused already'),
    })
    expect(await there.refusal('tasks/resume', id)).toEqual(notResumable)
    clock.advance(LONG)
    await expect.poll(async () => (await there.get(id)).status.state).toBe('suspended')
  })
})

it('states the document does not know are shown as the nearest it does, consent as a question', async () => {
  const consent = await bindu.inState('user-consent-required')
  expect((await bindu.get(consent)).status.state).toBe('input-required')
  expect(await bindu.refusal('tasks/pause', consent)).toEqual(notPausable)
  const parked = await bindu.inState('paused-by-agent')
  expect((await bindu.get(parked)).status.state).toBe('suspended')
  expect(await bindu.refusal('tasks/pause', parked)).toEqual(notPausable)
})
