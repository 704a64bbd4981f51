/** The PAUSED and reminder RFCs on the wire. Everything that can be wrong is in `test/scenarios/control-bad-input.test.ts`. */
import { describe, expect, it } from 'vitest'
import { all, take } from '../test-support/frames.ts'
import {
  anyone,
  type Loose,
  openTestServer,
  scripted,
  type TestServer,
  textMessage,
} from '../test-support/test-server.ts'

const HANDLE = /^suspend-[0-9a-f-]{36}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const control = 'urn:lull:a2a:task-control:1'
const notifications = { 'x-a2a-extensions': 'urn:lull:a2a:rfc-notifications:1' }

async function started(testServer: TestServer, ops: readonly unknown[]): Promise<string> {
  const params = { message: scripted('0.3', ops), configuration: { blocking: false } }
  return (await testServer.ok('0.3', 'message/send', params)).id
}

const working = [{ step: 'long', ms: 60_000 }, { complete: 'done' }]
const parked = [{ park: { reason: 'waiting on ci/build:1234' } }, { complete: 'done' }]
const until = (testServer: TestServer, id: string, state: string) =>
  testServer.engine.waitFor(anyone, id, (task) => task.state === state)

describe('tasks/pause', () => {
  it('answers as the RFC says', async () => {
    const testServer = await openTestServer()
    const taskId = await started(testServer, [{ ask: 'first' }, ...working])
    await until(testServer, taskId, 'input-required')
    const params = { taskId, reason: 'operator review', mode: 'interrupt_immediate', metadata: {} }
    // A question is not paused: the two kinds of stop have different ways out.
    expect((await testServer.rpc('0.3', 'tasks/pause', params)).error.code).toBe(-32011)
    const message = textMessage('0.3', 'go', { taskId })
    await testServer.ok('0.3', 'message/send', { message, configuration: { blocking: false } })
    const result = await testServer.ok('0.3', 'tasks/pause', params)
    expect(result).toEqual({
      taskId,
      state: 'paused-by-client',
      handle: expect.stringMatching(HANDLE),
      pausedAt: expect.stringMatching(INSTANT),
      reason: 'operator review',
    })
    expect(await testServer.ok('0.3', 'tasks/pause', params)).toEqual(result)
  })

  it('says the truth when the grace time passes', async () => {
    const testServer = await openTestServer()
    const taskId = await started(testServer, working)
    const result = await testServer.ok('1.0', 'tasks/pause', { taskId, graceMs: 0, reason: 'r' })
    expect(result).toEqual({
      taskId,
      state: 'working',
      pausing: true,
      handle: expect.stringMatching(HANDLE),
      requestedAt: expect.stringMatching(INSTANT),
      reason: 'r',
    })
    const task = await testServer.ok('1.0', 'GetTask', { id: taskId })
    expect(task.metadata[control]).toMatchObject({
      state: 'active',
      pausing: true,
      handle: result.handle,
    })
  })

  it('echoes conditions, and the deadline they make', async () => {
    const testServer = await openTestServer()
    const taskId = await started(testServer, working)
    const conditions = { onEvent: 'x', timeout: { durationMinutes: 30, onTimeout: 'fail' } }
    const result = await testServer.ok('0.3', 'tasks/pause', {
      taskId,
      mode: 'interrupt_immediate',
      conditions,
    })
    expect(result).toMatchObject({ conditions, deadlineAt: expect.stringMatching(INSTANT) })
  })
})

describe('tasks/resume', () => {
  it('answers with what was before and why it goes on', async () => {
    const testServer = await openTestServer()
    const taskId = await started(testServer, parked)
    await until(testServer, taskId, 'paused-by-agent')
    const { metadata } = await testServer.ok('0.3', 'tasks/get', { id: taskId })
    const params = {
      taskId,
      handle: metadata[control].handle,
      input: null,
      continueTranscript: true,
      metadata: {},
    }
    expect(await testServer.ok('0.3', 'tasks/resume', params)).toEqual({
      taskId,
      state: 'working',
      previousState: 'paused-by-agent',
      cause: 'explicit_resume',
      hadResumeInput: false,
      continueTranscript: true,
      resumedAt: expect.stringMatching(INSTANT),
    })
    const { error } = await testServer.rpc('0.3', 'tasks/resume', params)
    expect(error).toMatchObject({ code: -32011, data: { reason: 'TASK_NOT_PAUSED' } })
  })

  it('refuses a handle that is not the current one', async () => {
    const testServer = await openTestServer()
    const taskId = await started(testServer, parked)
    await until(testServer, taskId, 'paused-by-agent')
    const params = { taskId, handle: 'suspend-other' }
    expect((await testServer.rpc('0.3', 'tasks/resume', params)).error).toMatchObject({
      code: -32012,
    })
    expect((await testServer.rpc('1.0', 'tasks/resume', params)).error).toMatchObject({
      code: -32012,
      data: [{ reason: 'RESUME_HANDLE_MISMATCH', domain: 'lull' }],
    })
    expect(
      (await testServer.fetch('POST', `/tasks/${taskId}:resume`, { handle: 'x' })).status,
    ).toBe(409)
  })
})

describe('tasks/await_resumption', () => {
  it('parks a working task for a worker, and the task goes on when the event comes', async () => {
    const testServer = await openTestServer()
    const taskId = await started(testServer, [{ step: 'one', ms: 1_000 }, { complete: 'done' }])
    const params = {
      taskId,
      reason: 'waiting on ci/build:1234',
      conditions: {
        onEvent: 'ci.build.completed:1234',
        timeout: { durationMinutes: 30, onTimeout: 'fail' },
      },
      summary: 'Paused on CI build 1234; ETA 3m.',
      metadata: {},
    }
    const waiting = testServer.ok('0.3', 'tasks/await_resumption', params)
    await testServer.engine.waitFor(anyone, taskId, (task) => task.pausing !== undefined)
    testServer.clock.advance(1_000)
    expect(await waiting).toEqual({
      taskId,
      state: 'paused-by-agent',
      handle: expect.stringMatching(HANDLE),
      pausedAt: expect.stringMatching(INSTANT),
    })
    const task = await testServer.ok('0.3', 'tasks/get', { id: taskId })
    expect(task.status.state).toBe('paused-by-agent')
    expect(task.status.message.parts.map((part: Loose) => part.text)).toEqual([
      'waiting on ci/build:1234',
      'Paused on CI build 1234; ETA 3m.',
    ])
    expect((await testServer.rpc('0.3', 'tasks/await_resumption', params)).error.code).toBe(-32011)
    const event = { id: '1', source: 'ci', type: 'ci.build.completed', subject: '1234' }
    await testServer.engine.emit(anyone, [event as never])
    const done = await until(testServer, taskId, 'completed')
    expect(done.resumes.at(-1)?.cause).toBe('condition_fired')
  })
})

describe('reminders', () => {
  it('are injected, listed and cleared', async () => {
    const testServer = await openTestServer()
    const taskId = await started(testServer, working)
    const reminder = {
      id: 'reminder-019abf6b',
      body: 'Upstream dependency PR landed; rebase before the next tool call.',
      tags: ['upstream', 'rebase'],
      dedupeKey: 'upstream:pr-1234',
      ttlTurns: 2,
      preserveOnCompact: true,
      propagate: 'session',
      roleHint: 'system',
      source: 'coordinator-agent',
      firedAtTurn: 4,
      mode: 'finish_step',
    }
    const metadata = { 'harn.reminder.origin': 'workflow-coordinator' }
    expect(
      await testServer.ok('0.3', 'tasks/inject_reminder', { taskId, reminder, metadata }),
    ).toEqual({
      reminderId: 'reminder-019abf6b',
      dedupedCount: 0,
      acceptedAt: expect.stringMatching(INSTANT),
    })
    const newer = { ...reminder, id: 'reminder-2', body: 'Merged.' }
    expect(
      await testServer.ok('1.0', 'tasks/inject_reminder', { taskId, reminder: newer }),
    ).toMatchObject({
      dedupedCount: 1,
    })
    const listed = await testServer.ok('0.3', 'tasks/list_reminders', { taskId })
    expect(listed.reminders).toEqual([{ ...newer, acceptedAt: expect.stringMatching(INSTANT) }])
    expect(await testServer.ok('1.0', 'tasks/clear_reminders', { taskId, tag: 'rebase' })).toEqual({
      clearedCount: 1,
    })
    const empty = (await (
      await testServer.fetch('GET', `/tasks/${taskId}:listReminders`)
    ).json()) as Loose
    expect(empty.reminders).toEqual([])
  })

  it('are refused by a task that has ended', async () => {
    const testServer = await openTestServer()
    const { task } = await testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'x') })
    const params = { taskId: task.id, reminder: { body: 'late' } }
    expect((await testServer.rpc('1.0', 'tasks/inject_reminder', params)).error).toMatchObject({
      code: -32011,
      data: [{ reason: 'TASK_TERMINAL', domain: 'lull' }],
    })
    expect((await testServer.rpc('0.3', 'tasks/inject_reminder', params)).error).toMatchObject({
      code: -32011,
      data: { reason: 'TASK_TERMINAL', state: 'completed' },
    })
  })
})

describe('streams of 0.3 clients that ask for the RFCs’ notifications', () => {
  it('carry them between the ordinary frames', async () => {
    const testServer = await openTestServer()
    const ops = [
      { park: { reason: 'waiting', conditions: { onEvent: 'go' } } },
      { turn: [{ say: 'on' }] },
      { complete: 'done' },
    ]
    const params = { message: scripted('0.3', ops) }
    const stream = await testServer.stream('0.3', 'message/stream', params, notifications)
    const [task, status, notification] = await take(stream, 3)
    const taskId = task?.data.result.id
    expect(status?.data.result).toMatchObject({
      kind: 'status-update',
      status: { state: 'paused-by-agent' },
      final: false,
    })
    expect(notification?.data).toEqual({
      jsonrpc: '2.0',
      method: 'tasks/statusUpdate',
      params: {
        taskId,
        state: 'paused-by-agent',
        handle: expect.stringMatching(HANDLE),
        reason: 'waiting',
        initiator: 'agent',
        pausedAt: expect.stringMatching(INSTANT),
        conditions: { onEvent: 'go' },
      },
    })
    const reminder = { id: 'r-1', body: 'Look up', tags: ['t'], source: 'me' }
    await testServer.ok('0.3', 'tasks/inject_reminder', { taskId, reminder, metadata: { a: 1 } })
    await testServer.engine.emit(anyone, [{ id: '1', source: 's', type: 'go' } as never])
    const rest = (await all(stream)).map(({ data }) => data)
    expect(rest).toContainEqual({
      jsonrpc: '2.0',
      method: 'tasks/statusUpdate',
      params: {
        taskId,
        state: 'working',
        previousState: 'paused-by-agent',
        cause: 'condition_fired',
        hadResumeInput: false,
        continueTranscript: true,
        resumedAt: expect.stringMatching(INSTANT),
      },
    })
    expect(rest).toContainEqual({
      jsonrpc: '2.0',
      method: 'tasks/reminderEmitted',
      params: { taskId, reminder: { ...reminder, firedAtTurn: 1 }, metadata: { a: 1 } },
    })
    const expired = rest.filter((data) => data.method === 'tasks/reminderExpired')
    expect(expired.map((data) => data.params.reason)).toContain('task_ended')
    expect(rest.at(-1).result).toMatchObject({ final: true, status: { state: 'completed' } })
  })

  it('are never sent to others', async () => {
    const testServer = await openTestServer()
    const params = { message: scripted('0.3', [...parked.slice(0, 1), { turn: [{ say: 'x' }] }]) }
    const stream = await testServer.stream('0.3', 'message/stream', params)
    const first = await take(stream, 2)
    await testServer.ok('0.3', 'tasks/resume', { taskId: first[0]?.data.result.id })
    for (const { data } of [...first, ...(await all(stream))]) expect(data).toHaveProperty('result')
  })
})

describe('the RFC notifications', () => {
  it('stand on SubscribeToTask of 1.0 for whoever asks for them, and for nobody else', async () => {
    const testServer = await openTestServer()
    const taskId = await started(testServer, working)
    const asked = { 'a2a-extensions': 'urn:lull:a2a:rfc-notifications:1' }
    const open = (headers: Record<string, string>) =>
      testServer.stream('1.0', 'SubscribeToTask', { id: taskId }, headers)
    const [aware, unaware] = [await open(asked), await open({})]
    await testServer.ok('1.0', 'tasks/pause', { taskId, mode: 'interrupt_immediate', reason: 'r' })
    await testServer.ok('1.0', 'tasks/resume', { taskId })
    testServer.clock.advance(60_000)
    const notices = (await all(aware)).filter(({ data }) => data.method !== undefined)
    expect(notices.map(({ data }) => [data.method, data.params.state])).toEqual([
      ['tasks/statusUpdate', 'paused-by-client'],
      ['tasks/statusUpdate', 'working'],
    ])
    for (const { data } of await all(unaware)) expect(data).toHaveProperty('result')
  })
})

it('control methods take id where they take taskId', async () => {
  const testServer = await openTestServer()
  const taskId = await started(testServer, [{ park: { reason: 'r' } }, { complete: 'done' }])
  await until(testServer, taskId, 'paused-by-agent')
  expect((await testServer.ok('0.3', 'tasks/resume', { id: taskId })).taskId).toBe(taskId)
  // There `id` is the reminder's.
  expect((await testServer.rpc('0.3', 'tasks/clear_reminders', { id: taskId })).error.code).toBe(
    -32602,
  )
})

it('a second cancel is -32002 in 0.3 and no error in 1.0', async () => {
  const testServer = await openTestServer()
  const id = await started(testServer, [{ ask: '?' }])
  expect((await testServer.ok('0.3', 'tasks/cancel', { id })).status.state).toBe('canceled')
  expect((await testServer.rpc('0.3', 'tasks/cancel', { id })).error.code).toBe(-32002)
  expect((await testServer.ok('1.0', 'CancelTask', { id })).status.state).toBe(
    'TASK_STATE_CANCELED',
  )
})

it('metadata has no null members, in the tunnel either', async () => {
  const testServer = await openTestServer()
  const conditions = {
    timeout: { durationMinutes: 5, onTimeout: 'resume_with_input', input: null },
  }
  const ops = [{ park: { reason: 'r', conditions } }, { complete: 'done' }]
  const taskId = await started(testServer, ops)
  await until(testServer, taskId, 'paused-by-agent')
  const parked = await testServer.ok('1.0', 'GetTask', { id: taskId })
  expect(JSON.stringify(parked.metadata)).not.toContain('null')
  expect(parked.metadata[control].conditions.timeout.durationMinutes).toBe(5)
})

it('an unknown task is -32004 in the RFCs and -32001 in A2A 1.0', async () => {
  const testServer = await openTestServer()
  for (const [method, more] of [
    ['tasks/pause', {}],
    ['tasks/resume', {}],
    ['tasks/await_resumption', { reason: 'r' }],
    ['tasks/inject_reminder', { reminder: { body: 'b' } }],
    ['tasks/list_reminders', {}],
    ['tasks/clear_reminders', {}],
  ] as const) {
    const params = { taskId: 'nope', ...more }
    expect((await testServer.rpc('0.3', method, params)).error.code).toBe(-32004)
    expect((await testServer.rpc('1.0', method, params)).error.code).toBe(-32001)
  }
})
