/** The PAUSED state RFC (A2A): its examples as tests, request and answer, with the script agent behind a real server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agent } from '../../src/index.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import { examplesOf, headingsOf, type Loose } from './examples.ts'
import { type Harness, NOTIFICATIONS, openHarness, readUntil } from './harness.ts'
import { createNames, differences } from './match.ts'

const FILE = 'paused-state-rfc.md'
const example = examplesOf(FILE)
const TASK = example('tasks/pause request').params.taskId

const rebase = agent({
  name: 'rebase-worker',
  description: 'Rebases a branch and waits for CI',
  skills: [{ id: 'rebase', name: 'Rebase', description: 'Rebases a branch', tags: ['git'] }],
  run: () => 'rebased',
})
const plain = agent({
  ...createScriptAgent({ name: 'plain' }),
  pause: false,
  reminders: false,
})

/** Works until somebody stops it, with a boundary every few milliseconds. */
const busy = [{ repeat: 4_000, ops: [{ step: 'tick', ms: 5 }] }]

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ agents: [createScriptAgent(), rebase, plain] })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

/** A working task, and its stream with the notifications of the RFC. */
async function begin(ops: readonly object[]): Promise<{ id: string; frames: Notifications }> {
  const { id } = await harness.script(ops)
  await harness.until(id, 'working')
  const frames = harness.stream('tasks/resubscribe', { id }, NOTIFICATIONS)
  // The snapshot: from here on nothing is missed.
  await frames.next()
  return { id, frames }
}

type Notifications = AsyncGenerator<Loose, void>

async function nextStatus(frames: Notifications): Promise<Loose> {
  const read = await readUntil(frames, ({ method }) => method === 'tasks/statusUpdate')
  return read.at(-1)
}

it('has every example of the document in a test below', () => {
  expect(headingsOf(FILE)).toEqual([
    'tasks/pause request',
    'tasks/pause response',
    'tasks/await_resumption request',
    'tasks/await_resumption response',
    'tasks/resume request',
    'tasks/statusUpdate paused',
    'tasks/statusUpdate resumed',
    'agent card',
  ])
})

describe('pause and resume by the client', () => {
  const names = createNames()
  let frames: Notifications
  let id: string

  it('tasks/pause: the request, the response, and the paused task', async () => {
    ;({ id, frames } = await begin(busy))
    names.bind(TASK, id)
    const answer = await harness.post(names.ours(example('tasks/pause request')))
    expect(differences(answer, example('tasks/pause response'), names)).toEqual([])
    expect((await harness.get(id)).status.state).toBe('paused-by-client')
  })

  it('tasks/statusUpdate: the notification of the pause', async () => {
    const paused = await nextStatus(frames)
    expect(differences(paused, example('tasks/statusUpdate paused'), names)).toEqual([])
  })

  it('tasks/resume: the request of the document is answered with how the task goes on', async () => {
    const { id: requestId, result } = await harness.post(
      names.ours(example('tasks/resume request')),
    )
    expect(requestId).toBe(example('tasks/resume request').id)
    const { resumedAt, ...facts } = result
    expect(facts).toEqual({
      taskId: id,
      state: 'working',
      previousState: 'paused-by-client',
      cause: 'explicit_resume',
      hadResumeInput: false,
      continueTranscript: true,
    })
    expect(new Date(resumedAt).toISOString()).toBe(resumedAt)
    expect((await nextStatus(frames)).params).toEqual(result)
    await frames.return()
  })
})

describe('self-park by the agent', () => {
  const names = createNames()
  let frames: Notifications
  let id: string

  it('tasks/await_resumption: the request, the response, and the parked task', async () => {
    ;({ id, frames } = await begin(busy))
    names.bind(TASK, id)
    const request = names.ours(example('tasks/await_resumption request'))
    const answer = await harness.post(request)
    const expected = example('tasks/await_resumption response')
    expect(differences(answer, expected, names)).toEqual([])
    const task = await harness.get(id)
    expect(task.status.state).toBe('paused-by-agent')
    expect(textsOf(task)).toContain(request.params.summary)
    const { reason, conditions } = request.params
    expect((await nextStatus(frames)).params).toMatchObject({
      state: 'paused-by-agent',
      initiator: 'agent',
      reason,
      conditions,
    })
  })

  it('tasks/statusUpdate: the notification of the wake, when the condition fires', async () => {
    await harness.emit({ type: 'ci.build.completed', subject: '1234' })
    const resumed = await nextStatus(frames)
    expect(differences(resumed, example('tasks/statusUpdate resumed'), names)).toEqual([])
    expect((await harness.get(id)).status.state).toBe('working')
    await frames.return()
  })
})

describe('the agent card', () => {
  const written = example('agent card')

  it('advertises what the card of the document does, with skills as objects and one cause more', async () => {
    const card = await harness.card(written.name)
    const { resumeCauses, ...flags } = written.capabilities
    expect(card.name).toBe(written.name)
    expect(card.skills.map(({ id }: Loose) => id)).toEqual(written.skills)
    expect(card.capabilities).toMatchObject(flags)
    expect(card.capabilities.resumeCauses).toEqual([...resumeCauses, 'external_event'])
    expect(card.capabilities._meta.harn.pause).toBe(true)
    // An address of its own: the document's `/.well-known/a2a-agent` was never one of A2A.
    expect(card.url).toBe(`${harness.url}/agents/${written.name}/core`)
  })

  it('says nothing of it where an agent does not offer it, so that callers fall back', async () => {
    const { capabilities } = await harness.card('plain')
    expect(capabilities).not.toHaveProperty('supportsPause')
    expect(capabilities).not.toHaveProperty('supportsAwaitResumption')
    expect(capabilities).not.toHaveProperty('resumeCauses')
    expect(JSON.stringify(capabilities)).not.toContain('task-control')
  })
})

describe('a caller whose peer cannot pause', () => {
  const configuration = { blocking: false }
  const start = async (): Promise<string> => {
    const parts = [{ kind: 'data', data: { script: busy } }]
    const message = { role: 'user', messageId: crypto.randomUUID(), parts }
    const { id } = await harness.result('message/send', { configuration, message }, 'plain')
    await harness.until(id, 'working')
    return id
  }

  it('is told -32601, and can cancel', async () => {
    const id = await start()
    expect((await harness.error('tasks/pause', { taskId: id })).code).toBe(-32601)
    expect((await harness.get(id)).status.state).toBe('working')
    expect((await harness.result('tasks/cancel', { id })).status.state).toBe('canceled')
  })

  it('can close its subscription and find the task again, which went on without it', async () => {
    const id = await start()
    const first = harness.stream('tasks/resubscribe', { id })
    await first.next()
    await first.return()
    const second = harness.stream('tasks/resubscribe', { id })
    const { value } = await second.next()
    expect(value).toMatchObject({ result: { id, status: { state: 'working' } } })
    await second.return()
  })
})

describe('the errors of the document', () => {
  const parked = async (): Promise<Loose> => {
    const { id } = await harness.script([{ park: { reason: 'waiting' } }])
    await harness.until(id, 'paused-by-agent')
    return id
  }

  const malformed: readonly (readonly [string, object, string])[] = [
    ['tasks/pause', {}, 'taskId'],
    ['tasks/pause', { taskId: TASK, mode: 'soon' }, 'mode'],
    ['tasks/resume', {}, 'taskId'],
    ['tasks/resume', { taskId: TASK, continueTranscript: 'yes' }, 'continueTranscript'],
    ['tasks/await_resumption', { taskId: TASK }, 'reason'],
    [
      'tasks/await_resumption',
      {
        taskId: TASK,
        reason: 'x',
        conditions: { timeout: { durationMinutes: 1, onTimeout: 'explode' } },
      },
      'conditions.timeout.onTimeout',
    ],
  ]

  it.each(malformed)('-32602: malformed params of %s %j', async (method, params, path) => {
    expect(await harness.error(method, params)).toMatchObject({ code: -32602, data: { path } })
  })

  it.each([
    ['tasks/pause', {}],
    ['tasks/resume', {}],
    ['tasks/await_resumption', { reason: 'x' }],
  ])('-32004: %s of an unknown task', async (method, params) => {
    expect((await harness.error(method, { taskId: TASK, ...params })).code).toBe(-32004)
  })

  it('-32011: a state that does not allow it, with the state', async () => {
    const { id } = await harness.script([{ complete: 'done' }])
    await harness.until(id, 'completed')
    for (const method of ['tasks/pause', 'tasks/resume', 'tasks/await_resumption']) {
      const params = method.endsWith('resumption') ? { reason: 'x' } : {}
      const error = await harness.error(method, { taskId: id, ...params })
      expect(error).toMatchObject({ code: -32011, data: { state: 'completed' } })
    }
  })

  it('-32011: a task that parked itself is not paused on top of it', async () => {
    const error = await harness.error('tasks/pause', { taskId: await parked() })
    expect(error).toMatchObject({ code: -32011, data: { state: 'paused-by-agent' } })
  })

  it('-32012: a handle that is not the recorded one, nor an earlier one of the same task', async () => {
    const id = await parked()
    const handle = 'suspend-019abf6b-0000-7000-8000-000000000000'
    expect((await harness.error('tasks/resume', { taskId: id, handle })).code).toBe(-32012)
    const two = await harness.script([{ park: { reason: 'one' } }, { park: { reason: 'two' } }])
    const first = handleOf(await harness.until(two.id, 'paused-by-agent'))
    await harness.result('tasks/resume', { taskId: two.id, handle: first })
    await expect.poll(async () => handleOf(await harness.get(two.id))).not.toBe(first)
    await harness.until(two.id, 'paused-by-agent')
    const again = await harness.error('tasks/resume', { taskId: two.id, handle: first })
    expect(again.code).toBe(-32012)
  })

  it.each([
    ['tasks/pause', {}],
    ['tasks/await_resumption', { reason: 'x' }],
  ])('-32601: %s of an agent that does not implement it', async (method, params) => {
    const task = await harness.say('echo this', {}, 'plain')
    for (const address of ['plain', undefined]) {
      const error = await harness.error(method, { taskId: task.id, ...params }, address)
      expect(error.code).toBe(-32601)
    }
  })
})

function handleOf(task: Loose): string | undefined {
  return task.metadata?.['urn:lull:a2a:task-control:1']?.handle
}

function textsOf(task: Loose): string {
  return task.status.message.parts.map(({ text }: Loose) => text).join('\n')
}
