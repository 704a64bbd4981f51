import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import {
  anyone,
  type Loose,
  openTestServer,
  scripted,
  textMessage,
} from '../test-support/test-server.ts'

const uuid = (n: number): string => `019abf6b-7d51-7c1d-bb02-${String(n).padStart(12, '0')}`

describe('a send', () => {
  it('is answered with the task in the shape of its version', async () => {
    const testServer = await openTestServer()
    const one = await testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'hello') })
    expect(one).toEqual({
      task: {
        id: expect.any(String),
        contextId: expect.any(String),
        status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-01T00:00:00.000Z' },
        artifacts: [{ artifactId: expect.any(String), name: 'echo', parts: [{ text: 'hello' }] }],
        history: [
          {
            messageId: 'm-1',
            role: 'ROLE_USER',
            parts: [{ text: 'hello' }],
            taskId: one.task.id,
            contextId: one.task.contextId,
          },
        ],
      },
    })
    const other = await testServer.ok('0.3', 'message/send', {
      message: textMessage('0.3', 'hello'),
    })
    expect(other).toMatchObject({
      kind: 'task',
      status: { state: 'completed' },
      artifacts: [{ parts: [{ kind: 'text', text: 'hello' }] }],
      history: [{ kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'hello' }] }],
    })
  })

  it('keeps the metadata it came with, and ignores what it does not know', async () => {
    const testServer = await openTestServer()
    const message = { ...textMessage('1.0', 'x'), mood: 'good', contextId: '', taskId: null }
    message.parts = [{ text: 'x', color: 'red', filename: null }]
    const params = { message, metadata: { a: { b: 1 } }, extra: true }
    const { task } = await testServer.ok('1.0', 'SendMessage', params)
    expect(task.metadata).toEqual({ a: { b: 1 } })
    expect(task.history[0].parts).toEqual([{ text: 'x' }])
    expect(task.history[0]).not.toHaveProperty('mood')
  })

  it('keeps the client’s context and starts parallel tasks in it', async () => {
    const testServer = await openTestServer()
    const send = (n: number) =>
      testServer.ok('1.0', 'SendMessage', {
        message: scripted('1.0', [{ ask: '?' }], { contextId: 'mine', messageId: uuid(n) }),
      })
    const [a, b] = await Promise.all([send(1), send(2)])
    expect([a.task.contextId, b.task.contextId]).toEqual(['mine', 'mine'])
    expect(a.task.id).not.toBe(b.task.id)
    const list = await testServer.ok('1.0', 'ListTasks', {
      contextId: 'mine',
      status: 'TASK_STATE_INPUT_REQUIRED',
    })
    expect(list.totalSize).toBe(2)
  })

  it('happens once for one idempotency key, by header or by metadata, also across restarts', async () => {
    let testServer = await openTestServer({ store: createMemoryStore() })
    const params = { message: textMessage('1.0', 'x') }
    const byHeader = { 'idempotency-key': 'key-1' }
    const first = await testServer.ok('1.0', 'SendMessage', params, byHeader)
    testServer = await testServer.restart()
    expect(await testServer.ok('1.0', 'SendMessage', params, byHeader)).toEqual(first)
    const metadata = { 'a2a-idempotency-key': 'key-2' }
    const second = await testServer.ok('1.0', 'SendMessage', { ...params, metadata })
    expect((await testServer.ok('1.0', 'SendMessage', { ...params, metadata })).task.id).toBe(
      second.task.id,
    )
    expect(second.task.id).not.toBe(first.task.id)
    const other = { message: textMessage('1.0', 'y') }
    expect((await testServer.rpc('1.0', 'SendMessage', other, byHeader)).error).toMatchObject({
      code: -32602,
      data: [{ reason: 'IDEMPOTENCY_KEY_REUSED', domain: 'lull' }],
    })
    expect((await testServer.fetch('POST', '/message:send', other, byHeader)).status).toBe(409)
  })

  it('is told to come back by a server that stops', async () => {
    const testServer = await openTestServer()
    await testServer.engine.drain()
    const params = { message: textMessage('1.0', 'x') }
    expect((await testServer.rpc('1.0', 'SendMessage', params)).error.code).toBe(-32000)
    expect((await testServer.fetch('POST', '/message:send', params)).status).toBe(503)
  })

  it('that nobody waits for any more leaves the task alone', async () => {
    const testServer = await openTestServer()
    const gone = new AbortController()
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: scripted('1.0', [{ park: { reason: 'r' } }]) },
    }
    const request = new Request('http://lull.test/', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    })
    const waiting = testServer.raw(request, { signal: gone.signal })
    await testServer.engine.waitFor(
      anyone,
      await onlyTask(),
      (task) => task.state === 'paused-by-agent',
    )
    gone.abort()
    const answer = (await ((await waiting) as Response).json()) as Loose
    expect(answer.result.task.status.state).toBe('TASK_STATE_WORKING')
    expect((await testServer.engine.get(anyone, await onlyTask())).state).toBe('paused-by-agent')

    async function onlyTask(): Promise<string> {
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve))
        const { tasks } = await testServer.engine.list(anyone)
        if (tasks[0] !== undefined) return tasks[0].id
      }
    }
  })
})

describe('a question of consent', () => {
  const ops = [{ consent: { prompt: 'Book?', operation: { book: 1 } } }, { complete: 'booked' }]
  const uri = 'urn:lull:a2a:user-consent:1'

  it('is one of authorisation in 1.0, or of input where the operator says so', async () => {
    const states = ['auth-required', 'input-required'] as const
    for (const consentState of states) {
      const testServer = await openTestServer({ a2a: { config: { consentState } } })
      const { task } = await testServer.ok('1.0', 'SendMessage', { message: scripted('1.0', ops) })
      const wire = `TASK_STATE_${consentState.replace('-', '_').toUpperCase()}`
      expect(task.status.state).toBe(wire)
      expect(task.metadata[uri]).toMatchObject({
        state: 'user-consent-required',
        consentId: expect.any(String),
        prompt: 'Book?',
        operation: { book: 1 },
        digest: expect.any(String),
      })
      expect((await testServer.ok('1.0', 'ListTasks', { status: wire })).totalSize).toBe(1)
    }
  })

  it('is not answered by words alone, nor by the consent to something else', async () => {
    const testServer = await openTestServer()
    const { task } = await testServer.ok('1.0', 'SendMessage', { message: scripted('1.0', ops) })
    const answer = (some: object) =>
      testServer.rpc('1.0', 'SendMessage', {
        message: { ...textMessage('1.0', 'yes', { taskId: task.id }), ...some },
      })
    expect((await answer({})).result.task.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
    const other = { metadata: { [uri]: { consentId: 'other', decision: 'granted' } } }
    expect((await answer(other)).error.code).toBe(-32602)
    const { consentId } = task.metadata[uri]
    const right = { metadata: { [uri]: { consentId, decision: 'granted' } } }
    expect((await answer(right)).result.task.status.state).toBe('TASK_STATE_COMPLETED')
  })
})
