/**
 * The forty behaviours on the test list of Pause & Resume (Bindu), in its ten groups, against a running server. What is
 * internal there (a scheduler that recorded a call, a method that exists, a setting) is shown by what it does on the wire.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  begunSteps,
  binduAgents,
  binduOn,
  notFound,
  notPausable,
  notResumable,
} from './bindu-tasks.ts'
import type { Loose } from './examples.ts'
import { openGuardedServer } from './guarded-server.ts'
import { type Harness, openHarness, readUntil } from './harness.ts'

let harness: Harness
const bindu = binduOn(() => harness)
const UNKNOWN = '550e8400-e29b-41d4-a716-446655440000'

beforeAll(async () => {
  harness = await openHarness({ agents: binduAgents })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

it('has the ten groups of the document, with as many behaviours each', ({ task }) => {
  const file = new URL('fixtures/bindu-pause-resume.md', import.meta.url)
  const listed = readFileSync(file, 'utf8').matchAll(/^- \*\*(\w+)\*\* \((\d+) tests\)/gm)
  const groups = task.file.tasks.filter((one) => one.type === 'suite')
  expect(groups.map(({ name, tasks }) => [name, tasks.length])).toEqual(
    [...listed].map(([, name, count]) => [name, Number(count)]),
  )
})

describe('TestPauseTask', () => {
  it('pauses a working task: it is suspended, once', async () => {
    const id = await bindu.inState('working')
    expect((await bindu.pause(id)).status.state).toBe('suspended')
    expect(await bindu.stops(id)).toBe(1)
  })

  it('pauses a submitted task, which never began', async () => {
    const id = await bindu.inState('submitted')
    const { status, metadata } = await bindu.pause(id)
    expect([status.state, metadata.checkpoint.paused_from_state]).toEqual([
      'suspended',
      'submitted',
    ])
    expect(await bindu.stops(id)).toBe(1)
    expect(begunSteps(id)).toEqual([])
  })

  it('pauses a task that asked a question', async () => {
    const id = await bindu.inState('input-required')
    const { status, metadata } = await bindu.pause(id)
    const { paused_from_state } = metadata.checkpoint
    expect([status.state, paused_from_state]).toEqual(['suspended', 'input-required'])
    expect(await bindu.stops(id)).toBe(1)
  })

  it('does not find what does not exist', async () => {
    expect(await bindu.refusal('tasks/pause', UNKNOWN)).toEqual(notFound)
  })

  it('refuses a completed task, which stays as it was', () => refusesToPause('completed'))

  it('refuses a canceled task, which stays as it was', () => refusesToPause('canceled'))

  it('refuses a failed task, which stays as it was', () => refusesToPause('failed'))

  it('refuses a suspended task, which stays suspended', async () => {
    const id = await bindu.suspended()
    const before = await bindu.get(id)
    expect(await bindu.refusal('tasks/pause', id)).toEqual(notPausable)
    expect(await bindu.get(id)).toEqual(before)
    expect(await bindu.stops(id)).toBe(1)
  })
})

describe('TestResumeTask', () => {
  it('resumes a suspended task, which works again', async () => {
    const id = await bindu.suspended()
    const frozen = begunSteps(id).length
    expect((await bindu.resume(id)).status.state).toBe('resumed')
    expect((await bindu.get(id)).status.state).toBe('working')
    await expect.poll(() => begunSteps(id).length).toBeGreaterThan(frozen)
  })

  it('does not find what does not exist', async () => {
    expect(await bindu.refusal('tasks/resume', UNKNOWN)).toEqual(notFound)
  })

  it('refuses a working task', () => refusesToResume('working'))

  it('refuses a completed task', () => refusesToResume('completed'))

  it('refuses a submitted task, which nobody paused', () => refusesToResume('submitted'))
})

describe('TestCheckpointStorage', () => {
  it('keeps where it was paused and what was said so far', async () => {
    const { checkpoint } = (await bindu.get(await bindu.suspended())).metadata
    expect(checkpoint.paused_from_state).toBe('working')
    expect(checkpoint.message_history).toHaveLength(1)
  })

  it('has none of a task that does not exist', async () => {
    expect(await bindu.refusal('tasks/get', UNKNOWN)).toEqual(notFound)
  })

  it('has none of a task that was never paused', async () => {
    expect(await bindu.get(await bindu.inState('working'))).not.toHaveProperty(
      'metadata.checkpoint',
    )
  })

  it('has none left after the resume', async () => {
    const id = await bindu.suspended()
    await bindu.resume(id)
    expect(await bindu.get(id)).not.toHaveProperty('metadata.checkpoint')
  })

  it('leaves the other metadata of the task alone', async () => {
    const id = await withMetadata({ project: 'apollo', checkpoints: 3 })
    const { metadata } = await bindu.pause(id)
    expect(metadata).toMatchObject({ project: 'apollo', checkpoints: 3, checkpoint: {} })
    await bindu.resume(id)
    expect((await bindu.get(id)).metadata).toEqual({ project: 'apollo', checkpoints: 3 })
  })
})

describe('TestTaskManagerDelegation', () => {
  it('takes tasks/pause at the root and at the address of the agent', () =>
    answeredEverywhere('tasks/pause', () => bindu.inState('working'), 'suspended'))

  it('takes tasks/resume at the root and at the address of the agent', () =>
    answeredEverywhere('tasks/resume', bindu.suspended, 'resumed'))
})

describe('TestPauseResumeSettings', () => {
  it('counts suspended among the states a task goes on from', async () => {
    const id = await bindu.suspended()
    const queued = await harness.say('and this', { taskId: id })
    expect(queued.history.at(-1).parts[0].text).toBe('and this')
    expect((await bindu.get(id)).status.state).toBe('suspended')
    expect((await harness.result('tasks/cancel', { task_id: id })).status.state).toBe('canceled')
  })

  it('does not count suspended among the states that end a task', async () => {
    const id = await bindu.inState('working')
    const frames = harness.stream('tasks/resubscribe', { id })
    await frames.next()
    await bindu.pause(id)
    await bindu.resume(id)
    // The stream was not ended by the pause, and sees what comes after it.
    const stopped = await readUntil(frames, ({ result }) => result.status.state !== 'working')
    const seen = [stopped.at(-1), (await frames.next()).value]
    expect(seen.map(({ result }) => [result.status.state, result.final])).toEqual([
      ['paused-by-client', false],
      ['working', false],
    ])
    await frames.return()
  })

  it('pauses from submitted, working and input-required, and from no other state', async () => {
    const pausable: string[] = []
    for (const state of everyState) {
      const { result } = await harness.call('tasks/pause', { task_id: await bindu.inState(state) })
      if (result?.status.state === 'suspended') pausable.push(state)
    }
    expect(pausable).toEqual(['submitted', 'working', 'input-required'])
  })

  it('has both methods without any configuration', async () => {
    for (const method of ['tasks/pause', 'tasks/resume']) {
      const { code, data } = await harness.error(method, { task_id: UNKNOWN })
      expect([code, data.error], method).toEqual(notFound)
    }
  })
})

describe('TestProtocolTypes', () => {
  it('reads the request of a pause, whatever its id looks like', () =>
    readsRequest('tasks/pause', () => bindu.inState('working'), 'suspended'))

  it('reads the request of a resume, whatever its id looks like', () =>
    readsRequest('tasks/resume', bindu.suspended, 'resumed'))

  it('has both errors, with code and name', async () => {
    expect(await bindu.refusal('tasks/pause', await bindu.suspended())).toEqual(notPausable)
    expect(await bindu.refusal('tasks/resume', await bindu.inState('working'))).toEqual(
      notResumable,
    )
  })

  it('takes both methods with a camelCase taskId too, and answers those in the words of the RFC', async () => {
    const taskId = await bindu.inState('working')
    const request = { jsonrpc: '2.0', id: randomUUID(), params: { taskId } }
    const paused = await harness.post({ ...request, method: 'tasks/pause' })
    expect(paused.result).toMatchObject({ taskId, state: 'paused-by-client' })
    const resumed = await harness.post({ ...request, method: 'tasks/resume' })
    expect(resumed.result).toMatchObject({ taskId, state: 'working' })
  })
})

describe('TestPauseResumeCycle', () => {
  it('pauses and resumes', async () => {
    const id = await bindu.inState('working')
    expect((await bindu.pause(id)).status.state).toBe('suspended')
    expect((await bindu.resume(id)).status.state).toBe('resumed')
  })

  it('pauses, resumes, and pauses again', async () => {
    const id = await bindu.suspended()
    await bindu.resume(id)
    expect((await bindu.pause(id)).status.state).toBe('suspended')
    expect(await bindu.stops(id)).toBe(2)
  })

  it('reads a suspended task with its checkpoint', async () => {
    const id = await bindu.inState('working')
    const answer = await bindu.pause(id)
    expect(answer.metadata.checkpoint).toMatchObject({ paused_from_state: 'working' })
    expect(await bindu.get(id)).toEqual(answer)
  })

  it('does not resume what was canceled while suspended', async () => {
    const id = await bindu.suspended()
    await harness.result('tasks/cancel', { task_id: id })
    expect(await bindu.refusal('tasks/resume', id)).toEqual(notResumable)
  })
})

describe('TestEdgeCases', () => {
  it('refuses to pause a rejected task', () => refusesToPause('rejected'))

  it('refuses to resume a rejected task', () => refusesToResume('rejected'))

  it('refuses to pause a task that waits for authentication', () => refusesToPause('auth-required'))

  it('shows the second checkpoint in place of the first', async () => {
    const id = await bindu.suspended()
    const first = (await bindu.get(id)).metadata.checkpoint
    await harness.say('one more thing', { taskId: id })
    await bindu.resume(id)
    const second = (await bindu.pause(id)).metadata.checkpoint
    expect(second.message_history).toHaveLength(first.message_history.length + 1)
    expect(second.paused_at >= first.paused_at).toBe(true)
  })
})

describe('TestAuthPermissions', () => {
  it('asks for the scope to control tasks before it pauses', () => needsControl('tasks/pause'))

  it('asks for the scope to control tasks before it resumes', () => needsControl('tasks/resume'))
})

describe('TestCheckpointLifecycle', () => {
  it('leaves no checkpoint behind, not even an empty one', async () => {
    const id = await withMetadata({ kept: true })
    await bindu.pause(id)
    await bindu.resume(id)
    await harness.result('tasks/cancel', { task_id: id })
    expect(Object.keys((await bindu.get(id)).metadata)).toEqual(['kept'])
  })

  it('reads a task without any metadata', async () => {
    expect(await bindu.get(await bindu.inState('completed'))).not.toHaveProperty('metadata')
  })
})

const everyState = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'user-consent-required',
  'paused-by-agent',
  'completed',
  'failed',
  'canceled',
  'rejected',
]

async function refusesToPause(state: string): Promise<void> {
  const id = await bindu.inState(state)
  const before = await bindu.get(id)
  expect(await bindu.refusal('tasks/pause', id)).toEqual(notPausable)
  expect(await bindu.get(id)).toEqual(before)
}

async function refusesToResume(state: string): Promise<void> {
  const id = await bindu.inState(state)
  expect(await bindu.refusal('tasks/resume', id)).toEqual(notResumable)
  expect((await bindu.get(id)).status.state).toBe(state)
}

async function answeredEverywhere(
  method: string,
  make: () => Promise<string>,
  state: string,
): Promise<void> {
  for (const address of [undefined, 'script']) {
    const { status } = await harness.result(method, { task_id: await make() }, address)
    expect(status.state).toBe(state)
  }
  const elsewhere = await harness.error(method, { task_id: await make() }, 'single')
  expect(elsewhere.data.error).toBe('TaskNotFoundError')
}

async function readsRequest(
  method: string,
  make: () => Promise<string>,
  state: string,
): Promise<void> {
  for (const id of ['req-123', 7, randomUUID()]) {
    const params = { task_id: await make() }
    const answer = await harness.post({ jsonrpc: '2.0', id, method, params })
    expect([answer.id, answer.result.status.state]).toEqual([id, state])
  }
}

async function withMetadata(metadata: object): Promise<string> {
  const script = [{ repeat: 4_000, ops: [{ step: 'tick', ms: 5 }] }]
  const parts = [{ kind: 'data', data: { script } }]
  const message = { role: 'user', messageId: randomUUID(), parts }
  const configuration = { blocking: false }
  const { id } = await harness.result('message/send', { message, configuration, metadata })
  await harness.until(id, 'working')
  return id
}

async function needsControl(method: string): Promise<void> {
  await using server = await openGuardedServer()
  const owner = { name: 'ann', scopes: ['tasks:read', 'tasks:write', 'tasks:control'] }
  const reader = { name: 'ann', scopes: ['tasks:read', 'tasks:write'] }
  const id = await parkedTask(server, owner)
  if (method === 'tasks/pause') await server.call(owner, 'tasks/resume', { task_id: id })
  const refused = await server.call(reader, method, { task_id: id })
  expect(refused.status).toBe(403)
  expect(refused.answer.error.data).toMatchObject({ scope: 'tasks:control' })
  const { answer } = await server.call(owner, method, { task_id: id })
  expect(answer.result.status.state).toBe(method === 'tasks/pause' ? 'suspended' : 'resumed')
}

async function parkedTask(
  server: Awaited<ReturnType<typeof openGuardedServer>>,
  owner: { readonly name: string; readonly scopes: readonly string[] },
): Promise<string> {
  const script = [{ park: { reason: 'waiting' } }, { ask: 'And now?' }]
  const parts = [{ kind: 'data', data: { script } }]
  const message = { role: 'user', messageId: randomUUID(), parts }
  const { answer } = await server.call(owner, 'message/send', { message })
  const { id, status }: Loose = answer.result
  expect(status.state).toBe('paused-by-agent')
  return id
}
