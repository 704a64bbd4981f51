import { describe, expect, it } from 'vitest'
import { type Loose, openTestServer, scripted, textMessage } from '../test-support/test-server.ts'

const v1 = { 'a2a-version': '1.0' }

describe('JSON-RPC', () => {
  it.each([
    ['text that is not JSON', '{"jsonrpc":', -32700],
    ['an empty body', '', -32700],
    ['a name given twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask"}', -32600],
    ['__proto__', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"__proto__":{}}}', -32600],
    ['deep nesting', `{"a":${'['.repeat(80)}${']'.repeat(80)}}`, -32600],
    ['a request without an id', '{"jsonrpc":"2.0","method":"GetTask"}', -32602],
    ['params in a list', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602],
    ['a method nobody has', '{"jsonrpc":"2.0","id":1,"method":"Fly"}', -32601],
    ['a method of Object.prototype', '{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601],
  ])('answers %s with the right code and 200', async (_what, body, code) => {
    const testServer = await openTestServer()
    const response = await testServer.fetch('POST', '/', body, v1)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code } })
  })

  it('refuses bytes that are not UTF-8, and bodies that are not JSON by their type', async () => {
    const testServer = await openTestServer()
    const request = (body: Uint8Array | string, type: string) =>
      new Request('http://lull.test/', { method: 'POST', body, headers: { 'content-type': type } })
    const broken = await testServer.raw(request(new Uint8Array([123, 255]), 'application/json'))
    expect(await broken?.json()).toMatchObject({ error: { code: -32700 } })
    const form = await testServer.raw(request('a=b', 'application/x-www-form-urlencoded'))
    expect(form?.status).toBe(415)
    expect(await form?.json()).toMatchObject({
      error: { code: -32005, data: { reason: 'CONTENT_TYPE_NOT_SUPPORTED' } },
    })
    const path = 'http://lull.test/message:send'
    const rest = await testServer.raw(new Request(path, { method: 'POST', body: 'a=b' }))
    expect(rest?.status).toBe(415)
    expect(await rest?.json()).toMatchObject({
      error: { details: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED', domain: 'a2a-protocol.org' }] },
    })
  })

  it('says which version a method belongs to', async () => {
    const testServer = await openTestServer()
    const { error } = await testServer.rpc('0.3', 'SendMessage', {})
    expect(error).toMatchObject({ code: -32601, message: expect.stringMatching(/A2A-Version/) })
    expect((await testServer.rpc('1.0', 'message/send', {})).error.code).toBe(-32601)
  })

  it('refuses versions it does not speak, with the id of the request', async () => {
    const testServer = await openTestServer()
    const answer = await testServer.rpc('0.3', 'GetTask', { id: 'x' }, { 'a2a-version': '99.0' })
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^call-/),
      error: { code: -32009, data: [{ reason: 'VERSION_NOT_SUPPORTED' }] },
    })
    const empty = await testServer.rpc('0.3', 'tasks/get', { id: 'x' }, { 'a2a-version': '' })
    expect(empty.error.code).toBe(-32001)
  })

  it('carries ErrorInfo in 1.0 and plain data in 0.3', async () => {
    const testServer = await openTestServer()
    expect((await testServer.rpc('1.0', 'GetTask', { id: 'x' })).error.data).toEqual([
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'TASK_NOT_FOUND',
        domain: 'a2a-protocol.org',
        metadata: { taskId: 'x' },
      },
    ])
    expect((await testServer.rpc('0.3', 'tasks/get', { id: 'x' })).error.data).toEqual({
      reason: 'TASK_NOT_FOUND',
      taskId: 'x',
    })
  })

  it('finds a task by taskId in 0.3, as the RFCs name it, and not in 1.0', async () => {
    const testServer = await openTestServer()
    const { task } = await testServer.ok('1.0', 'SendMessage', {
      message: scripted('1.0', [{ ask: '?' }]),
    })
    const named = { taskId: task.id }
    expect(await testServer.ok('0.3', 'tasks/get', named)).toMatchObject({ id: task.id })
    expect((await testServer.rpc('1.0', 'GetTask', named)).error.code).toBe(-32602)
    const canceled = await testServer.ok('0.3', 'tasks/cancel', named)
    expect(canceled.status.state).toBe('canceled')
    expect((await testServer.rpc('0.3', 'tasks/get', {})).error).toMatchObject({
      code: -32602,
      data: { path: 'id' },
    })
  })

  it('echoes the extensions it turned on', async () => {
    const testServer = await openTestServer()
    const uri = 'urn:lull:a2a:task-control:1'
    const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } }
    const asked = { ...v1, 'a2a-extensions': `${uri}, https://example.com/unknown` }
    expect((await testServer.fetch('POST', '/', body, asked)).headers.get('a2a-extensions')).toBe(
      uri,
    )
    const pause = { jsonrpc: '2.0', id: 1, method: 'tasks/pause', params: { taskId: 'x' } }
    expect((await testServer.fetch('POST', '/', pause)).headers.get('x-a2a-extensions')).toBe(uri)
  })

  it('hides what went wrong inside', async () => {
    const testServer = await openTestServer()
    await testServer.store.close()
    const { error } = await testServer.rpc('1.0', 'GetTask', { id: 'x' })
    expect(error).toMatchObject({ code: -32000 })
    expect(JSON.stringify(error)).not.toMatch(/at .*\.ts/)
  })
})

describe('REST', () => {
  it('speaks 1.0 without a prefix and 0.3 under /v1', async () => {
    const testServer = await openTestServer()
    const made = await testServer.fetch('POST', '/message:send', {
      message: textMessage('1.0', 'x'),
    })
    const { task } = (await made.json()) as never as { task: { id: string } }
    const one = (await (await testServer.fetch('GET', `/tasks/${task.id}`)).json()) as object
    expect(one).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } })
    const other = (await (await testServer.fetch('GET', `/v1/tasks/${task.id}`)).json()) as object
    expect(other).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } })
    const message = textMessage('0.3', 'x')
    const old = (await (
      await testServer.fetch('POST', '/v1/message:send', { message })
    ).json()) as object
    expect(old).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } })
  })

  it('refuses a version its path does not speak', async () => {
    const testServer = await openTestServer()
    expect(
      (await testServer.fetch('GET', '/tasks/x', undefined, { 'a2a-version': '0.3' })).status,
    ).toBe(400)
    expect((await testServer.fetch('GET', '/v1/tasks/x', undefined, v1)).status).toBe(400)
    expect((await testServer.fetch('GET', '/tasks?A2A-Version=1.0.1')).status).toBe(200)
  })

  it.each([
    ['GET', '/tasks/nope', undefined, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
    ['POST', '/tasks/nope:cancel', undefined, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
    ['POST', '/message:send', {}, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    ['POST', '/message:send', '[]', 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    ['POST', '/message:send', '{', 400, 'INVALID_ARGUMENT', 'PARSE_ERROR'],
    ['GET', '/tasks?pageSize=0', undefined, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    ['GET', '/tasks?pageSize=101', undefined, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    ['GET', '/tasks?pageSize=ten', undefined, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    ['GET', '/tasks?pageToken=mine', undefined, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    ['GET', '/tasks?status=HAPPY', undefined, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    [
      'GET',
      '/tasks?statusTimestampAfter=now',
      undefined,
      400,
      'INVALID_ARGUMENT',
      'INVALID_PARAMS',
    ],
    ['GET', '/tasks/x?historyLength=-1', undefined, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
    ['GET', '/extendedAgentCard', undefined, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
    ['POST', '/tasks/nope:pause', {}, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
    ['DELETE', '/message:send', undefined, 405, 'UNIMPLEMENTED', 'METHOD_NOT_FOUND'],
    ['GET', '/agents/nobody/tasks', undefined, 404, 'UNIMPLEMENTED', 'METHOD_NOT_FOUND'],
  ])('%s %s', async (verb, path, body, code, status, reason) => {
    const testServer = await openTestServer()
    const response = await testServer.fetch(verb, path, body)
    expect(response.status).toBe(code)
    expect(await response.json()).toMatchObject({
      error: {
        code,
        status,
        message: expect.any(String),
        details: expect.arrayContaining([expect.objectContaining({ reason })]),
      },
    })
  })

  it('answers 0.3 errors in every form that official clients look for', async () => {
    const testServer = await openTestServer()
    const response = await testServer.fetch('GET', '/v1/tasks/nope')
    expect(response.status).toBe(404)
    const body = (await response.json()) as Loose
    expect(body).toMatchObject({
      code: -32001,
      type: 'TaskNotFoundError',
      message: expect.any(String),
      error: {
        code: 404,
        status: 'NOT_FOUND',
        message: expect.any(String),
        details: [{ reason: 'TASK_NOT_FOUND' }],
      },
    })
    // The Java client takes the first `error` and the first `message` at any depth.
    expect(Object.keys(body)).toEqual(['code', 'type', 'message', 'error', 'data'])
  })

  it('of 0.3 writes ProtoJSON, whatever binding made the task: no kind, no names of files', async () => {
    const testServer = await openTestServer()
    const file = { name: 'f.txt', mimeType: 'text/plain', bytes: 'YQ==' }
    const parts = [
      { kind: 'text', text: 'a' },
      { kind: 'file', file },
    ]
    const message = { kind: 'message', messageId: 'm', role: 'user', parts }
    const { id } = await testServer.ok('0.3', 'message/send', { message })
    const shown = await (await testServer.fetch('GET', `/v1/tasks/${id}`)).text()
    expect(shown).not.toMatch(/"kind"|"name":"f\.txt"/)
    expect(JSON.parse(shown)).toMatchObject({
      id,
      status: { state: 'TASK_STATE_COMPLETED' },
      history: [
        { role: 'ROLE_USER', content: [{ text: 'a' }, { file: { fileWithBytes: 'YQ==' } }] },
      ],
    })
    for (const status of ['TASK_STATE_COMPLETED', 'completed']) {
      const list = (await (
        await testServer.fetch('GET', `/v1/tasks?status=${status}`)
      ).json()) as Loose
      expect(list.tasks.map((task: Loose) => task.id)).toEqual([id])
    }
    expect((await testServer.fetch('GET', '/v1/tasks?status=HAPPY')).status).toBe(400)
  })

  it('answers in the media type it was asked in', async () => {
    const testServer = await openTestServer()
    const type = async (headers: Record<string, string>) =>
      (await testServer.fetch('GET', '/tasks', undefined, headers)).headers.get('content-type')
    expect(await type({})).toBe('application/json')
    expect(await type({ accept: 'application/a2a+json' })).toBe('application/a2a+json')
    const body = { message: textMessage('1.0', 'x') }
    const sent = await testServer.fetch('POST', '/message:send', body, {
      'content-type': 'application/a2a+json',
    })
    expect(sent.headers.get('content-type')).toBe('application/a2a+json')
  })

  it('leaves alone what is not A2A', async () => {
    const testServer = await openTestServer()
    const paths = ['/ops/tasks', '/dashboard', '/healthz', '/agents', '/%E0%A4%A', '/tasks/a/b/c/d']
    for (const path of [...paths, '/tasks/x/fly', '/v1', '/.well-known/other.json']) {
      const request = new Request(`http://lull.test${path}`)
      expect([path, await testServer.raw(request)]).toEqual([path, undefined])
    }
    expect(await testServer.raw(new Request('http://lull.test/'))).toBeUndefined()
  })
})

describe('tenants and agents', () => {
  it('takes a tenant by path or parameter, and no tenant that is not the caller’s', async () => {
    const open = await openTestServer({ env: { anyTenant: true } })
    await open.fetch('POST', '/acme/message:send', { message: textMessage('1.0', 'x') })
    const count = async (tenant: string) =>
      (await open.ok('1.0', 'ListTasks', { tenant })).totalSize
    expect([await count('acme'), await count('other'), await count('')]).toEqual([1, 0, 0])
    expect((await (await open.fetch('GET', '/acme/tasks')).json()) as object).toMatchObject({
      totalSize: 1,
    })

    const strict = await openTestServer()
    expect((await strict.fetch('GET', '/acme/tasks')).status).toBe(400)
    expect((await strict.rpc('1.0', 'ListTasks', { tenant: 'acme' })).error.code).toBe(-32602)
    expect((await strict.fetch('GET', '/default/tasks')).status).toBe(200)
  })

  it('shows an agent’s own tasks under its address, and all of them at the root', async () => {
    const testServer = await openTestServer()
    const { createScriptAgent } = await import('../../../testing/script-agent/script-agent.ts')
    const two = await openTestServer({
      agents: ['first', 'second'].map((name) =>
        createScriptAgent({ name, clock: testServer.clock }),
      ),
    })
    const message = textMessage('1.0', 'x')
    const made = await two.fetch('POST', '/agents/second/message:send', { message })
    const { task } = (await made.json()) as never as { task: { id: string } }
    const status = async (path: string) =>
      (await two.fetch('GET', `${path}/tasks/${task.id}`)).status
    expect(await status('/agents/second')).toBe(200)
    expect(await status('/agents/first')).toBe(404)
    expect(await status('')).toBe(200)
    const more = { message: { ...message, taskId: task.id } }
    expect((await two.fetch('POST', '/agents/first/message:send', more)).status).toBe(404)
    const pause = await two.fetch('POST', `/agents/first/tasks/${task.id}:pause`, {})
    expect(pause.status).toBe(404)
  })

  it('looks the same for a task that is somebody else’s as for none', async () => {
    const testServer = await openTestServer()
    const { task } = await testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'x') })
    const ask = async (id: string) => {
      const request = new Request(`http://lull.test/tasks/${id}`)
      const env = { caller: { tenant: 'default', principal: 'mallory' } }
      return (await (await testServer.raw(request, env))?.text())?.replaceAll(id, 'ID')
    }
    expect(await ask(task.id)).toBe(await ask('nope'))
  })

  it('refuses callers without the scope, and hides the workers’ method from them', async () => {
    const readers = await openTestServer({ env: { may: (scope) => scope === 'tasks:read' } })
    const sent = await readers.fetch('POST', '/message:send', { message: textMessage('1.0', 'x') })
    expect(sent.status).toBe(403)
    expect((await readers.rpc('1.0', 'ListTasks')).error).toBeUndefined()
    const park = { taskId: 'x', reason: 'r' }
    expect((await readers.rpc('1.0', 'tasks/await_resumption', park)).error.code).toBe(-32601)
  })
})
