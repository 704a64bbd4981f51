/** What the official SDK's server does against the specification, and ours does not. One test per observation. */
import { describe, expect, it } from 'vitest'
import { openTestServer, scripted, textMessage } from '../test-support/test-server.ts'

describe('deviations that are not ours', () => {
  it.each(['1.0', '1.0.1', '1.0.99'])('patch digits do not matter: %s', async (version) => {
    const testServer = await openTestServer()
    const answer = await testServer.rpc('0.3', 'GetTask', { id: 'x' }, { 'a2a-version': version })
    expect(answer.error.code).toBe(-32001)
  })

  it('takes the version as a query parameter', async () => {
    const testServer = await openTestServer()
    const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } }
    const answer = (await (
      await testServer.fetch('POST', '/?A2A-Version=1.0', body)
    ).json()) as never
    expect(answer).toMatchObject({ error: { code: -32001 } })
  })

  it.each([
    ['an empty object', {}],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } }]],
  ])('answers %s with -32600', async (_what, body) => {
    const testServer = await openTestServer()
    const response = await testServer.fetch('POST', '/', body, { 'a2a-version': '1.0' })
    expect(await response.json()).toMatchObject({ error: { code: -32600 }, id: null })
  })

  it.each([
    ['empty parts', { message: { messageId: 'm', role: 'ROLE_USER', parts: [] } }, 'message.parts'],
    ['no parts', { message: { messageId: 'm', role: 'ROLE_USER' } }, 'message.parts'],
    [
      'an unknown role',
      { message: { ...textMessage('1.0', 'x'), role: 'ROLE_KING' } },
      'message.role',
    ],
    ['no role', { message: { messageId: 'm', parts: [{ text: 'x' }] } }, 'message.role'],
    [
      'no messageId',
      { message: { role: 'ROLE_USER', parts: [{ text: 'x' }] } },
      'message.messageId',
    ],
    ['no message', {}, 'message'],
    [
      'a part with two contents',
      { message: { ...textMessage('1.0', ''), parts: [{ text: 'x', url: 'http://y' }] } },
      'message.parts.0',
    ],
    [
      'a negative historyLength',
      { message: textMessage('1.0', 'x'), configuration: { historyLength: -1 } },
      'configuration.historyLength',
    ],
  ])('refuses %s with the path, and writes nothing', async (_what, params, path) => {
    const testServer = await openTestServer()
    const { error } = await testServer.rpc('1.0', 'SendMessage', params)
    expect(error.code).toBe(-32602)
    const badRequest = error.data.find((one: { '@type': string }) =>
      one['@type'].endsWith('BadRequest'),
    )
    expect(badRequest.fieldViolations[0].field).toBe(path)
    expect((await testServer.ok('1.0', 'ListTasks')).totalSize).toBe(0)
  })

  it('refuses a media type the agent does not take', async () => {
    const testServer = await openTestServer()
    const parts = [{ raw: 'AAAA', mediaType: 'application/x-unheard-of' }]
    const { error } = await testServer.rpc('1.0', 'SendMessage', {
      message: { ...textMessage('1.0', ''), parts },
    })
    expect(error).toMatchObject({ code: -32005, data: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }] })
  })

  it('takes a body of more than 100 KB', async () => {
    const testServer = await openTestServer()
    const text = 'x'.repeat(500_000)
    const { task } = await testServer.ok('1.0', 'SendMessage', {
      message: textMessage('1.0', text),
    })
    expect(task.artifacts[0].parts[0].text).toBe(text)
  })

  it('includes the instant itself in statusTimestampAfter', async () => {
    const testServer = await openTestServer()
    const { task } = await testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'x') })
    const at = (statusTimestampAfter: string) =>
      testServer.ok('1.0', 'ListTasks', { statusTimestampAfter })
    expect((await at(task.status.timestamp)).totalSize).toBe(1)
    const next = new Date(Date.parse(task.status.timestamp) + 1).toISOString()
    expect((await at(next)).totalSize).toBe(0)
  })

  it('keeps its place in a list when the task at that place changes', async () => {
    const testServer = await openTestServer()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      testServer.clock.advance(1_000)
      const message = scripted('1.0', [{ ask: 'ok?' }], { messageId: `m-${n}` })
      ids.unshift((await testServer.ok('1.0', 'SendMessage', { message })).task.id)
    }
    const first = await testServer.ok('1.0', 'ListTasks', { pageSize: 2 })
    expect(first.tasks.map((task: { id: string }) => task.id)).toEqual(ids.slice(0, 2))
    // The task the cursor points at moves to the front of the list.
    testServer.clock.advance(1_000)
    await testServer.ok('1.0', 'CancelTask', { id: ids[1] })
    const rest = await testServer.ok('1.0', 'ListTasks', {
      pageSize: 9,
      pageToken: first.nextPageToken,
    })
    expect(rest.tasks.map((task: { id: string }) => task.id)).toEqual(ids.slice(2))
    expect(rest.nextPageToken).toBe('')
  })

  it('cancels at once, also when the agent does not listen', async () => {
    const testServer = await openTestServer()
    const message = scripted('1.0', [{ step: 'deaf', ms: 600_000, stubborn: true }])
    const configuration = { returnImmediately: true }
    const { task } = await testServer.ok('1.0', 'SendMessage', { message, configuration })
    const canceled = await testServer.ok('1.0', 'CancelTask', { id: task.id })
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED')
    // Again: the same answer, no error.
    expect(await testServer.ok('1.0', 'CancelTask', { id: task.id })).toEqual(canceled)
  })

  it('starts one task for a message that arrives twice', async () => {
    const testServer = await openTestServer()
    const message = textMessage('1.0', 'x', { messageId: '019abf6b-7d51-7c1d-bb02-000000000001' })
    const first = await testServer.ok('1.0', 'SendMessage', { message })
    expect(await testServer.ok('1.0', 'SendMessage', { message })).toEqual(first)
    expect((await testServer.ok('1.0', 'ListTasks')).totalSize).toBe(1)
  })

  it('has the right errors where the official server has them too', async () => {
    const testServer = await openTestServer()
    const { task } = await testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'x') })
    const again = { message: textMessage('1.0', 'y', { taskId: task.id }) }
    const other = { message: textMessage('1.0', 'y', { taskId: task.id, contextId: 'other' }) }
    const unknown = { message: textMessage('1.0', 'y', { taskId: 'nope' }) }
    const codes = await Promise.all(
      [
        testServer.rpc('1.0', 'SendMessage', again),
        testServer.rpc('1.0', 'SendMessage', other),
        testServer.rpc('1.0', 'SendMessage', unknown),
        testServer.rpc('1.0', 'CancelTask', { id: task.id }),
        testServer.rpc('1.0', 'SubscribeToTask', { id: task.id }),
        testServer.rpc('1.0', 'GetTask', { id: 'nope' }),
        testServer.rpc('1.0', 'SubscribeToTask', { id: 'nope' }),
      ].map(async (answer) => (await answer).error.code),
    )
    expect(codes).toEqual([-32004, -32602, -32001, -32002, -32004, -32001, -32001])
  })
})
