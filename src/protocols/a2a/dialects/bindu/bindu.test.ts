import { describe, expect, it } from 'vitest'
import type { Task } from '../../../../core/task.ts'
import {
  anyone,
  type Loose,
  openTestServer,
  scripted,
  type TestServer,
  textMessage,
} from '../../test-support/test-server.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/
const long = [{ step: 'one', ms: 1_000 }, { complete: 'done' }]

async function started(testServer: TestServer, ops: readonly unknown[]): Promise<string> {
  const params = { message: scripted('0.3', ops), configuration: { blocking: false } }
  return (await testServer.ok('0.3', 'message/send', params)).id
}

const until = (testServer: TestServer, id: string, state: string) =>
  testServer.engine.waitFor(anyone, id, (task) => task.state === state)

/** Pauses while a step runs: the answer comes when the step is over. */
async function paused(testServer: TestServer, id: string): Promise<Loose> {
  const answer = testServer.ok('0.3', 'tasks/pause', { task_id: id })
  const stops = (task: Task) => task.pausing !== undefined || task.suspension !== undefined
  await testServer.engine.waitFor(anyone, id, stops)
  testServer.clock.advance(1_000)
  return answer
}

describe('the Bindu dialect', () => {
  it('pauses, shows the checkpoint, resumes and goes on', async () => {
    const testServer = await openTestServer()
    const id = await started(testServer, [
      { artifact: { name: 'a', text: 'x' } },
      { ask: 'go?' },
      ...long,
    ])
    await until(testServer, id, 'input-required')
    const message = textMessage('0.3', 'go', { taskId: id })
    await testServer.ok('0.3', 'message/send', { message, configuration: { blocking: false } })
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
    const suspended = await paused(testServer, id)
    expect(suspended).toMatchObject({
      id,
      context_id: expect.any(String),
      status: { state: 'suspended', timestamp: expect.stringMatching(INSTANT) },
      metadata: {
        checkpoint: {
          paused_from_state: 'working',
          message_history: [{ message_id: 'm-1', role: 'user', task_id: id }, {}, {}],
          artifacts: [{ artifact_id: expect.any(String), name: 'a' }],
          paused_at: expect.stringMatching(INSTANT),
        },
      },
    })
    expect(await testServer.ok('0.3', 'tasks/get', { task_id: id })).toEqual(suspended)
    const resumed = await testServer.ok('0.3', 'tasks/resume', { task_id: id })
    expect(resumed).toMatchObject({ id, status: { state: 'resumed' } })
    expect(resumed.metadata?.checkpoint).toBeUndefined()
    await until(testServer, id, 'completed')
    const done = await testServer.ok('0.3', 'tasks/get', { task_id: id })
    expect(done.status.state).toBe('completed')
    expect(done.metadata?.checkpoint).toBeUndefined()
  })

  it('pauses a question, and brings it back', async () => {
    const testServer = await openTestServer()
    const id = await started(testServer, [{ ask: 'Which?' }, { complete: 'x' }])
    await until(testServer, id, 'input-required')
    const suspended = await testServer.ok('0.3', 'tasks/pause', { task_id: id })
    expect(suspended.metadata.checkpoint.paused_from_state).toBe('input-required')
    expect((await testServer.ok('0.3', 'tasks/resume', { task_id: id })).status.state).toBe(
      'resumed',
    )
    expect((await testServer.ok('0.3', 'tasks/get', { task_id: id })).status.state).toBe(
      'input-required',
    )
  })

  it('refuses what the document refuses, with its codes and names', async () => {
    const testServer = await openTestServer()
    const codes = async (method: string, task_id: string) => {
      const { error } = await testServer.rpc('0.3', method, { task_id })
      return [error.code, error.data.error]
    }
    const notPausable = [-32040, 'TaskNotPausableError']
    const notResumable = [-32041, 'TaskNotResumableError']
    expect(await codes('tasks/pause', 'nope')).toEqual([-32001, 'TaskNotFoundError'])
    expect(await codes('tasks/resume', 'nope')).toEqual([-32001, 'TaskNotFoundError'])
    expect(await codes('tasks/get', 'nope')).toEqual([-32001, 'TaskNotFoundError'])
    const done = (await testServer.ok('0.3', 'message/send', { message: textMessage('0.3', 'x') }))
      .id
    expect(await codes('tasks/pause', done)).toEqual(notPausable)
    expect(await codes('tasks/resume', done)).toEqual(notResumable)
    expect(await codes('tasks/cancel', done)).toEqual([-32002, 'TaskNotCancelableError'])
    const running = await started(testServer, long)
    expect(await codes('tasks/resume', running)).toEqual(notResumable)
    await paused(testServer, running)
    expect(await codes('tasks/pause', running)).toEqual(notPausable)
    for (const op of [
      { auth: 'key?' },
      { consent: { prompt: 'p', operation: 1 } },
      { park: { reason: 'r' } },
    ]) {
      const id = await started(testServer, [op])
      await testServer.engine.waitFor(anyone, id, (task) => task.state !== 'working')
      expect(await codes('tasks/pause', id)).toEqual(notPausable)
    }
    expect((await testServer.rpc('0.3', 'tasks/pause', { task_id: 5 })).error.code).toBe(-32602)
  })

  it('resumes a parked task, and needs no handle even where one is required', async () => {
    const testServer = await openTestServer({ options: { requireHandle: true } })
    const id = await started(testServer, [{ park: { reason: 'r' } }, { complete: 'x' }])
    await until(testServer, id, 'paused-by-agent')
    expect((await testServer.ok('0.3', 'tasks/get', { task_id: id })).status.state).toBe(
      'suspended',
    )
    expect((await testServer.ok('0.3', 'tasks/resume', { task_id: id })).status.state).toBe(
      'resumed',
    )
    await until(testServer, id, 'completed')
  })

  it('cancels what is suspended, shows nothing to others, and pauses only what is configured', async () => {
    const testServer = await openTestServer({
      a2a: { config: { binduPausableStates: ['working'] } },
    })
    const id = await started(testServer, [{ ask: '?' }])
    await until(testServer, id, 'input-required')
    expect((await testServer.rpc('0.3', 'tasks/pause', { task_id: id })).error.code).toBe(-32040)
    const running = await started(testServer, long)
    await paused(testServer, running)
    const canceled = await testServer.ok('0.3', 'tasks/cancel', { task_id: running })
    expect(canceled.status.state).toBe('canceled')
    expect((await testServer.rpc('0.3', 'tasks/cancel', { task_id: running })).error).toMatchObject(
      {
        code: -32002,
        data: { error: 'TaskNotCancelableError' },
      },
    )
  })

  it('takes a message sent while a question is suspended as the answer, when it is resumed', async () => {
    const testServer = await openTestServer()
    const id = await started(testServer, [{ ask: 'Which?' }, { echo: 'input' }])
    await until(testServer, id, 'input-required')
    await paused(testServer, id)
    const message = textMessage('0.3', 'the red one', { taskId: id })
    const sent = await testServer.ok('0.3', 'message/send', { message })
    expect(sent.status.state).toBe('paused-by-client')
    const resumed = await testServer.ok('0.3', 'tasks/resume', { task_id: id })
    expect(resumed.status.state).toBe('resumed')
    await until(testServer, id, 'completed')
    const done = await testServer.ok('0.3', 'tasks/get', { id })
    expect(JSON.stringify(done.artifacts)).toContain('the red one')
    const said = done.history.filter((one: Loose) => one.parts[0].text === 'the red one')
    expect(said).toHaveLength(1)
  })

  it('tells webhooks that were made in its words of suspended and resumed', async () => {
    const sent: Loose[] = []
    const testServer = await openTestServer({
      a2a: {
        config: { pushToPrivate: true },
        post: async ({ body }) => {
          sent.push(JSON.parse(body))
        },
      },
    })
    const id = await started(testServer, [{ ask: 'Go?' }, { complete: 'done' }])
    await until(testServer, id, 'input-required')
    const config = { url: 'http://127.0.0.1:9/hook', token: 't' }
    const made = await testServer.ok('0.3', 'tasks/pushNotificationConfig/set', {
      task_id: id,
      push_notification_config: config,
    })
    expect(made).toMatchObject({ task_id: id, push_notification_config: config })
    const list = await testServer.ok('0.3', 'tasks/pushNotificationConfig/list', { task_id: id })
    expect(list).toEqual([made])
    await paused(testServer, id)
    await testServer.ok('0.3', 'tasks/resume', { task_id: id })
    await testServer.ok('0.3', 'tasks/cancel', { task_id: id })
    await expect.poll(() => sent.at(-1)?.status.state).toBe('canceled')
    expect(
      sent.map(({ kind, task_id, status, final }) => [kind, task_id, status.state, final]),
    ).toEqual([
      ['status-update', id, 'suspended', false],
      ['status-update', id, 'resumed', true],
      ['status-update', id, 'canceled', true],
    ])
    expect(sent[0].metadata.checkpoint.paused_from_state).toBe('input-required')
  })
})
