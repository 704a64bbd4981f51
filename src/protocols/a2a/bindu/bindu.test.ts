import { describe, expect, it } from 'vitest'
import type { Task } from '../../../core/task.ts'
import {
  anyone,
  type Desk,
  type Loose,
  openDesk,
  scripted,
  textMessage,
} from '../test-support/desk.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/
const long = [{ step: 'one', ms: 1_000 }, { complete: 'done' }]

async function started(desk: Desk, ops: readonly unknown[]): Promise<string> {
  const params = { message: scripted('0.3', ops), configuration: { blocking: false } }
  return (await desk.ok('0.3', 'message/send', params)).id
}

const until = (desk: Desk, id: string, state: string) =>
  desk.engine.waitFor(anyone, id, (task) => task.state === state)

/** Pauses while a step runs: the answer comes when the step is over. */
async function paused(desk: Desk, id: string): Promise<Loose> {
  const answer = desk.ok('0.3', 'tasks/pause', { task_id: id })
  const stops = (task: Task) => task.pausing !== undefined || task.suspension !== undefined
  await desk.engine.waitFor(anyone, id, stops)
  desk.clock.advance(1_000)
  return answer
}

describe('the Bindu dialect', () => {
  it('pauses, shows the checkpoint, resumes and goes on', async () => {
    const desk = await openDesk()
    const id = await started(desk, [
      { artifact: { name: 'a', text: 'x' } },
      { ask: 'go?' },
      ...long,
    ])
    await until(desk, id, 'input-required')
    const message = textMessage('0.3', 'go', { taskId: id })
    await desk.ok('0.3', 'message/send', { message, configuration: { blocking: false } })
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
    const suspended = await paused(desk, id)
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
    expect(await desk.ok('0.3', 'tasks/get', { task_id: id })).toEqual(suspended)
    const resumed = await desk.ok('0.3', 'tasks/resume', { task_id: id })
    expect(resumed).toMatchObject({ id, status: { state: 'resumed' } })
    expect(resumed.metadata?.checkpoint).toBeUndefined()
    await until(desk, id, 'completed')
    const done = await desk.ok('0.3', 'tasks/get', { task_id: id })
    expect(done.status.state).toBe('completed')
    expect(done.metadata?.checkpoint).toBeUndefined()
  })

  it('pauses a question, and brings it back', async () => {
    const desk = await openDesk()
    const id = await started(desk, [{ ask: 'Which?' }, { complete: 'x' }])
    await until(desk, id, 'input-required')
    const suspended = await desk.ok('0.3', 'tasks/pause', { task_id: id })
    expect(suspended.metadata.checkpoint.paused_from_state).toBe('input-required')
    expect((await desk.ok('0.3', 'tasks/resume', { task_id: id })).status.state).toBe('resumed')
    expect((await desk.ok('0.3', 'tasks/get', { task_id: id })).status.state).toBe('input-required')
  })

  it('refuses what the document refuses, with its codes and names', async () => {
    const desk = await openDesk()
    const codes = async (method: string, task_id: string) => {
      const { error } = await desk.rpc('0.3', method, { task_id })
      return [error.code, error.data.error]
    }
    const notPausable = [-32040, 'TaskNotPausableError']
    const notResumable = [-32041, 'TaskNotResumableError']
    expect(await codes('tasks/pause', 'nope')).toEqual([-32001, 'TaskNotFoundError'])
    expect(await codes('tasks/resume', 'nope')).toEqual([-32001, 'TaskNotFoundError'])
    expect(await codes('tasks/get', 'nope')).toEqual([-32001, 'TaskNotFoundError'])
    const done = (await desk.ok('0.3', 'message/send', { message: textMessage('0.3', 'x') })).id
    expect(await codes('tasks/pause', done)).toEqual(notPausable)
    expect(await codes('tasks/resume', done)).toEqual(notResumable)
    expect(await codes('tasks/cancel', done)).toEqual([-32002, 'TaskNotCancelableError'])
    const running = await started(desk, long)
    expect(await codes('tasks/resume', running)).toEqual(notResumable)
    await paused(desk, running)
    expect(await codes('tasks/pause', running)).toEqual(notPausable)
    for (const op of [
      { auth: 'key?' },
      { consent: { prompt: 'p', operation: 1 } },
      { park: { reason: 'r' } },
    ]) {
      const id = await started(desk, [op])
      await desk.engine.waitFor(anyone, id, (task) => task.state !== 'working')
      expect(await codes('tasks/pause', id)).toEqual(notPausable)
    }
    expect((await desk.rpc('0.3', 'tasks/pause', { task_id: 5 })).error.code).toBe(-32602)
  })

  it('resumes a parked task, and needs no handle even where one is required', async () => {
    const desk = await openDesk({ options: { requireHandle: true } })
    const id = await started(desk, [{ park: { reason: 'r' } }, { complete: 'x' }])
    await until(desk, id, 'paused-by-agent')
    expect((await desk.ok('0.3', 'tasks/get', { task_id: id })).status.state).toBe('suspended')
    expect((await desk.ok('0.3', 'tasks/resume', { task_id: id })).status.state).toBe('resumed')
    await until(desk, id, 'completed')
  })

  it('cancels what is suspended, shows nothing to others, and pauses only what is configured', async () => {
    const desk = await openDesk({ a2a: { config: { binduPausableStates: ['working'] } } })
    const id = await started(desk, [{ ask: '?' }])
    await until(desk, id, 'input-required')
    expect((await desk.rpc('0.3', 'tasks/pause', { task_id: id })).error.code).toBe(-32040)
    const running = await started(desk, long)
    await paused(desk, running)
    const canceled = await desk.ok('0.3', 'tasks/cancel', { task_id: running })
    expect(canceled.status.state).toBe('canceled')
    expect((await desk.rpc('0.3', 'tasks/cancel', { task_id: running })).error).toMatchObject({
      code: -32002,
      data: { error: 'TaskNotCancelableError' },
    })
  })

  it('takes a message sent while a question is suspended as the answer, when it is resumed', async () => {
    const desk = await openDesk()
    const id = await started(desk, [{ ask: 'Which?' }, { echo: 'input' }])
    await until(desk, id, 'input-required')
    await paused(desk, id)
    const message = textMessage('0.3', 'the red one', { taskId: id })
    const sent = await desk.ok('0.3', 'message/send', { message })
    expect(sent.status.state).toBe('paused-by-client')
    const resumed = await desk.ok('0.3', 'tasks/resume', { task_id: id })
    expect(resumed.status.state).toBe('resumed')
    await until(desk, id, 'completed')
    const done = await desk.ok('0.3', 'tasks/get', { id })
    expect(JSON.stringify(done.artifacts)).toContain('the red one')
    const said = done.history.filter((one: Loose) => one.parts[0].text === 'the red one')
    expect(said).toHaveLength(1)
  })

  it('tells webhooks that were made in its words of suspended and resumed', async () => {
    const sent: Loose[] = []
    const desk = await openDesk({
      a2a: {
        config: { pushToPrivate: true },
        post: async ({ body }) => {
          sent.push(JSON.parse(body))
        },
      },
    })
    const id = await started(desk, [{ ask: 'Go?' }, { complete: 'done' }])
    await until(desk, id, 'input-required')
    const config = { url: 'http://127.0.0.1:9/hook', token: 't' }
    const made = await desk.ok('0.3', 'tasks/pushNotificationConfig/set', {
      task_id: id,
      push_notification_config: config,
    })
    expect(made).toMatchObject({ task_id: id, push_notification_config: config })
    const list = await desk.ok('0.3', 'tasks/pushNotificationConfig/list', { task_id: id })
    expect(list).toEqual([made])
    await paused(desk, id)
    await desk.ok('0.3', 'tasks/resume', { task_id: id })
    await desk.ok('0.3', 'tasks/cancel', { task_id: id })
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
