import { describe, expect, it } from 'vitest'
import { agent } from '../../../engine/author/agent.ts'
import { createScriptAgent } from '../../../testing/script-agent/script-agent.ts'
import { all, framesIn, take } from '../test-support/frames.ts'
import {
  anyone,
  type Loose,
  openTestServer,
  scripted,
  type TestServer,
  textMessage,
} from '../test-support/test-server.ts'

const parked = [
  { park: { reason: 'ci', conditions: { onEvent: 'go', timeout: { durationMinutes: 5 } } } },
  { turn: [{ say: 'on' }] },
  { complete: 'x' },
]
const until = (testServer: TestServer, id: string, state: string) =>
  testServer.engine.waitFor(anyone, id, (task) => task.state === state)

describe('the Harn tunnel, outbound', () => {
  it('carries the whole envelope beside the same facts, in both versions', async () => {
    const testServer = await openTestServer()
    const { id, metadata } = await testServer.ok('0.3', 'message/send', {
      message: scripted('0.3', parked),
    })
    expect(metadata.harn.pause).toEqual({
      state: 'paused-by-agent',
      handle: metadata['urn:lull:a2a:task-control:1'].handle,
      reason: 'ci',
      resume_when: { on_event: 'go', timeout: { duration_minutes: 5 } },
      initiator: 'agent',
      suspended_at_ms: expect.any(Number),
    })
    expect((await testServer.ok('1.0', 'GetTask', { id })).metadata.harn).toEqual(metadata.harn)
    await testServer.ok('1.0', 'tasks/resume', { taskId: id })
    expect((await testServer.ok('0.3', 'tasks/get', { id })).metadata.harn.pause.state).toBe(
      'active',
    )
  })

  it('carries reminders on a status that repeats itself', async () => {
    for (const version of ['0.3', '1.0'] as const) {
      const testServer = await openTestServer()
      const method = version === '0.3' ? 'message/stream' : 'SendStreamingMessage'
      const stream = await testServer.stream(version, method, {
        message: scripted(version, parked),
      })
      const [first] = await take(stream, 2)
      const taskId = first?.data.result.id ?? first?.data.result.task.id
      await testServer.ok(version, 'tasks/inject_reminder', {
        taskId,
        reminder: { id: 'r', body: 'b' },
      })
      await testServer.ok(version, 'tasks/resume', { taskId })
      const seen = (await all(stream)).flatMap(({ data }) => {
        const { metadata } = data.result.statusUpdate ?? data.result
        return metadata?.harn?.reminder ?? []
      })
      expect(seen).toContainEqual({
        id: 'r',
        body: 'b',
        tags: [],
        preserve_on_compact: false,
        propagate: 'session',
        role_hint: 'system',
        fired_at_turn: 1,
      })
    }
  })

  it('carries them over REST too, in either spelling of 0.3', async () => {
    const messages = [
      { messageId: 'm-1', role: 'user', parts: [{ kind: 'data', data: { script: parked } }] },
      { messageId: 'm-2', role: 'ROLE_USER', content: [{ data: { data: { script: parked } } }] },
    ]
    for (const message of messages) {
      const testServer = await openTestServer()
      const stream = framesIn(await testServer.fetch('POST', '/v1/message:stream', { message }))
      const [first] = await take(stream, 2)
      const taskId = first?.data.id ?? first?.data.task.id
      await testServer.ok('0.3', 'tasks/inject_reminder', {
        taskId,
        reminder: { id: 'r', body: 'b' },
      })
      await testServer.ok('0.3', 'tasks/resume', { taskId })
      const seen = (await all(stream)).map(({ data }) => (data.statusUpdate ?? data).metadata)
      expect(seen).toContainEqual(
        expect.objectContaining({ harn: { reminder: expect.objectContaining({ id: 'r' }) } }),
      )
    }
  })

  it('is silent when it is switched off', async () => {
    const testServer = await openTestServer({ a2a: { config: { harnTunnel: false } } })
    const task = await testServer.ok('0.3', 'message/send', { message: scripted('0.3', parked) })
    expect(task.metadata).not.toHaveProperty('harn')
    const card = await (await testServer.fetch('GET', '/.well-known/agent-card.json')).text()
    expect(card).not.toContain('_meta')
  })
})

describe('the Harn tunnel, inbound', () => {
  const blank = (taskId: string, harn: Loose, version: '0.3' | '1.0' = '0.3') =>
    textMessage(version, '', { taskId, messageId: `t-${Math.random()}`, metadata: { harn } })

  it('pauses and resumes, in either spelling, without a word in the history', async () => {
    const testServer = await openTestServer()
    const ops = [{ step: 'one', ms: 60_000 }, { complete: 'x' }]
    const params = { message: scripted('0.3', ops), configuration: { blocking: false } }
    const { id } = await testServer.ok('0.3', 'message/send', params)
    const pause = {
      op: 'pause',
      reason: 'look',
      mode: 'interrupt_immediate',
      resume_when: { on_event: 'go' },
    }
    const stopped = await testServer.ok('0.3', 'tasks/send', { message: blank(id, { pause }) })
    expect(stopped.status.state).toBe('paused-by-client')
    expect(stopped.history).toHaveLength(1)
    expect(stopped.metadata.harn.pause).toMatchObject({
      reason: 'look',
      resume_when: { on_event: 'go' },
    })
    const resume = { suspend: { op: 'resume', handle: stopped.metadata.harn.pause.handle } }
    const going = await testServer.ok('1.0', 'SendMessage', { message: blank(id, resume, '1.0') })
    expect(going.task.status.state).toBe('TASK_STATE_WORKING')
    expect((await testServer.engine.get(anyone, id)).state).toBe('working')
    expect(
      (await testServer.rpc('0.3', 'message/send', { message: blank(id, resume) })).error.code,
    ).toBe(-32011)
  })

  it('injects reminders, from the metadata of the request or of the message', async () => {
    const testServer = await openTestServer()
    const { id } = await testServer.ok('0.3', 'message/send', {
      message: scripted('0.3', [{ ask: '?' }]),
    })
    await until(testServer, id, 'input-required')
    const reminder = { id: 'r-1', body: 'b', ttl_turns: 2, role_hint: 'developer' }
    await testServer.ok('0.3', 'message/send', { message: blank(id, { reminder }) })
    const message = textMessage('0.3', '', { taskId: id, messageId: 'other' })
    const metadata = { 'harn.reminder': { id: 'r-2', body: 'c', ttlTurns: 3 } }
    await testServer.ok('0.3', 'message/send', { message, metadata })
    const { reminders } = await testServer.ok('0.3', 'tasks/list_reminders', { taskId: id })
    expect(reminders).toMatchObject([
      { id: 'r-1', ttlTurns: 2, roleHint: 'developer' },
      { id: 'r-2', ttlTurns: 3 },
    ])
    expect((await testServer.engine.get(anyone, id)).state).toBe('input-required')
  })

  it('reads flat keys like nested ones', async () => {
    const testServer = await openTestServer()
    const { id } = await testServer.ok('0.3', 'message/send', {
      message: scripted('0.3', [{ park: { reason: 'r' } }, { step: 'long', ms: 60_000 }]),
      metadata: {
        'harn.reminder.id': 'r-3',
        'harn.reminder.body': 'd',
        'harn.reminder.ttl_turns': 4,
      },
    })
    const { reminders } = await testServer.ok('0.3', 'tasks/list_reminders', { taskId: id })
    expect(reminders).toMatchObject([{ id: 'r-3', body: 'd', ttlTurns: 4 }])
    const send = (messageId: string, metadata: object) =>
      testServer.ok('0.3', 'message/send', {
        message: textMessage('0.3', '', { taskId: id, messageId }),
        metadata,
      })
    await send('resume', { 'harn.pause.op': 'resume' })
    await until(testServer, id, 'working')
    await send('pause', { 'harn.pause.reason': 'lunch', 'harn.pause.mode': 'interrupt_immediate' })
    await until(testServer, id, 'paused-by-client')
    const task = await testServer.engine.get(anyone, id)
    expect(task.suspension).toMatchObject({ reason: 'lunch' })
  })

  it('refuses a wrong operation, and one without a task', async () => {
    const testServer = await openTestServer()
    const { id } = await testServer.ok('0.3', 'message/send', {
      message: scripted('0.3', [{ ask: '?' }]),
    })
    const send = async (message: Loose) =>
      (await testServer.rpc('0.3', 'message/send', { message })).error.code
    expect(await send(blank(id, { pause: { mode: 'never' } }))).toBe(-32602)
    expect(await send(blank('nope', { pause: {} }))).toBe(-32001)
    expect(await send(textMessage('0.3', '', { metadata: { harn: { pause: {} } } }))).toBe(-32602)
  })

  const look = [{ turn: [{ echo: 'reminders' }] }]
  /** 0.3 wraps lists. */
  const seenIn = (task: Loose): readonly string[] => {
    const { data } = task.artifacts[0].parts[0]
    return (data.value ?? data).map(({ id }: Loose) => id)
  }

  it.each(['0.3', '1.0'] as const)(
    'reminds a task from its first turn where the message begins one, in %s',
    async (version) => {
      const testServer = await openTestServer()
      const metadata = { harn: { reminder: { id: 'r-1', body: 'b' } } }
      const message = scripted(version, look, { metadata })
      const [method, result] =
        version === '0.3' ? ['message/send', undefined] : ['SendMessage', 'task']
      const sent = await testServer.ok(version, method, { message })
      expect(seenIn(result === undefined ? sent : sent[result])).toEqual(['r-1'])
    },
  )

  it('brings no second reminder where the message is sent again', async () => {
    const testServer = await openTestServer()
    const { id } = await testServer.ok('0.3', 'message/send', {
      message: scripted('0.3', [{ park: { reason: 'x' } }]),
    })
    const message = textMessage('0.3', 'note', {
      taskId: id,
      messageId: '019abf6b-7d51-7c1d-bb02-000000000001',
      metadata: { harn: { reminder: { body: 'b' } } },
    })
    for (let times = 0; times < 2; times++) await testServer.ok('0.3', 'message/send', { message })
    const { reminders } = await testServer.ok('0.3', 'tasks/list_reminders', { taskId: id })
    expect(reminders).toHaveLength(1)
    await testServer.ok('0.3', 'tasks/clear_reminders', { taskId: id })
    await testServer.ok('0.3', 'message/send', { message })
    const later = await testServer.ok('0.3', 'tasks/list_reminders', { taskId: id })
    expect(later.reminders).toEqual([])
  })

  const wrong: readonly (readonly [unknown, string])[] = [
    ['be brief', 'metadata.harn.reminder'],
    [[], 'metadata.harn.reminder'],
    [{}, 'metadata.harn.reminder.body'],
    [{ body: ' ' }, 'metadata.harn.reminder.body'],
    [{ body: 'b', role_hint: 'user' }, 'metadata.harn.reminder.roleHint'],
    [{ body: 'b', ttl_turns: 0 }, 'metadata.harn.reminder.ttlTurns'],
  ]

  it.each(wrong)(
    'refuses a wrong reminder, %j, and the message with it',
    async (reminder, path) => {
      const testServer = await openTestServer()
      const message = scripted('0.3', look, { metadata: { harn: { reminder } } as never })
      const { error } = await testServer.rpc('0.3', 'message/send', { message })
      expect(error).toMatchObject({ code: -32602, data: { path } })
      expect((await testServer.engine.list(anyone)).tasks).toEqual([])
    },
  )

  it('leaves out what only Harn knows of a reminder', async () => {
    const testServer = await openTestServer()
    const reminder = { id: 'r-1', body: 'b', authority: 'contract', originating_agent_id: null }
    const message = scripted('0.3', look, { metadata: { harn: { reminder } } })
    expect(seenIn(await testServer.ok('0.3', 'message/send', { message }))).toEqual(['r-1'])
  })

  it('is refused where the agent takes no reminders', async () => {
    const deaf = agent({ ...createScriptAgent(), reminders: false })
    const testServer = await openTestServer({ agents: [deaf] })
    const message = scripted('0.3', look, { metadata: { harn: { reminder: { body: 'b' } } } })
    expect((await testServer.rpc('0.3', 'message/send', { message })).error.code).toBe(-32601)
    expect((await testServer.engine.list(anyone)).tasks).toEqual([])
  })
})
