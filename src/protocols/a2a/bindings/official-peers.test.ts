/** What official peers send and take, where it is not what the specification's examples show. Found by running them. */
import { describe, expect, it } from 'vitest'
import { type Loose, openTestServer } from '../test-support/test-server.ts'

/** As `a2a-sdk` 1.3.0 (Python) writes a 0.3 send over REST. */
const pythonSend = (text: string) => ({
  request: { message_id: `m-${text}`, role: 'ROLE_USER', content: [{ text }] },
  configuration: { blocking: true },
})

const read = (response: Response): Promise<Loose> => response.json()

describe('official peers', () => {
  it('write the names of the proto over REST 0.3', async () => {
    const testServer = await openTestServer()
    const sent = await read(await testServer.fetch('POST', '/v1/message:send', pythonSend('hello')))
    expect(sent).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' }, history: [{ messageId: 'm-hello' }] },
    })
    const got = await testServer.fetch('GET', `/v1/tasks/${sent.task.id}?history_length=0`)
    expect((await read(got)).history).toEqual([])
  })

  it('write the names of the proto in 1.0, where only names are read so', async () => {
    const testServer = await openTestServer()
    const message = {
      message_id: 'm-1',
      context_id: 'c-1',
      role: 'ROLE_USER',
      parts: [{ data: { snake_case: 1 } }],
      metadata: { also_here: true },
    }
    const { task } = await testServer.ok('1.0', 'SendMessage', { message })
    expect(task).toMatchObject({
      contextId: 'c-1',
      history: [{ messageId: 'm-1', parts: message.parts, metadata: message.metadata }],
    })
    await testServer.ok('1.0', 'SendMessage', {
      message: { messageId: 'm-2', role: 'ROLE_USER', parts: [{ text: 'elsewhere' }] },
    })
    expect((await testServer.ok('1.0', 'ListTasks', { context_id: 'c-1' })).tasks).toHaveLength(1)
    const { history } = await testServer.ok('1.0', 'GetTask', { id: task.id, history_length: 0 })
    expect(history).toBeUndefined()
  })

  it('wrap a webhook of REST 0.3 in the whole request, and take no names the proto has not', async () => {
    const testServer = await openTestServer()
    const sent = await read(
      await testServer.fetch('POST', '/v1/message:send', pythonSend('hooked')),
    )
    const parent = `tasks/${sent.task.id}`
    const name = `${parent}/pushNotificationConfigs/c1`
    const pushNotificationConfig = { id: 'c1', url: 'https://example.com/hook' }
    const response = await testServer.fetch('POST', `/v1/${parent}/pushNotificationConfigs`, {
      parent,
      configId: 'c1',
      config: { name, pushNotificationConfig },
    })
    expect(await response.json()).toEqual({ name, pushNotificationConfig })
    expect(await (await testServer.fetch('GET', `/v1/${name}`)).json()).toEqual({
      name,
      pushNotificationConfig,
    })
  })

  it.each(['message/stream', 'tasks/resubscribe'])(
    'take the errors of %s in 0.3 as an event, and nothing else',
    async (method) => {
      const testServer = await openTestServer()
      const parts = [{ kind: 'text', text: 'x' }]
      const message = { messageId: 'm', role: 'user', taskId: 'nobody', parts }
      const params = method === 'message/stream' ? { message } : { id: 'nobody' }
      const body = { jsonrpc: '2.0', id: 7, method, params }
      const response = await testServer.fetch('POST', '/', body)
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      const text = await response.text()
      expect(JSON.parse(text.replace(/^data: /, ''))).toMatchObject({
        id: 7,
        error: { code: -32001 },
      })
    },
  )

  it('take the errors of a stream in 1.0 as JSON', async () => {
    const testServer = await openTestServer()
    expect((await testServer.rpc('1.0', 'SubscribeToTask', { id: 'nobody' })).error.code).toBe(
      -32001,
    )
  })
})
