/** Whatever is sent to any address: an answer of the right kind, nothing written that was not asked for, still alive. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { methods } from './methods/methods.ts'
import { openTestServer, textMessage } from './test-support/test-server.ts'

const names = [...methods['1.0'].keys(), ...methods['0.3'].keys()]
const fields = [
  'id',
  'taskId',
  'message',
  'configuration',
  'metadata',
  'reminder',
  'conditions',
  'handle',
  'pageSize',
  'pageToken',
  'status',
  'historyLength',
  'url',
  'tenant',
  'mode',
  'input',
  'parts',
  'role',
  'messageId',
  'contextId',
  'kind',
  'text',
  'data',
]

const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', maxDepth: 5 },
    fc.jsonValue({ maxDepth: 2 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.dictionary(fc.constantFrom(...fields), tie('any'), { maxKeys: 6 }),
    fc.array(tie('any'), { maxLength: 4 }),
  ),
})).any

const envelope = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, value),
    id: fc.oneof({ weight: 9, arbitrary: fc.integer() }, value),
    method: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, value),
    params: value,
  },
  { requiredKeys: ['jsonrpc', 'id', 'method'] },
)

const headers = fc.record(
  {
    'a2a-version': fc.constantFrom('1.0', '0.3', '1.0.3', '9.9', ''),
    'last-event-id': fc.constantFrom('1.0', '5.2', 'x', '999999999999.1'),
    'a2a-extensions': fc.constantFrom('urn:lull:a2a:task-control:1', ',,,', 'x'),
  },
  { requiredKeys: [] },
)

const KNOWN = new Set([
  -32700, -32600, -32601, -32602, -32000, -32001, -32002, -32003, -32004, -32005, -32007, -32009,
  -32011, -32012,
])

it('JSON-RPC answers every request with a result or a known error, and lists nothing that was refused', async () => {
  const testServer = await openTestServer()
  await fc.assert(
    fc.asyncProperty(envelope, headers, async (body, given) => {
      const before = (await testServer.ok('1.0', 'ListTasks')).totalSize
      const response = await testServer.fetch('POST', '/', JSON.stringify(body), given as never)
      expect(response.status).toBe(200)
      if (response.headers.get('content-type') === 'text/event-stream') {
        await response.body?.cancel()
        return
      }
      const answer = (await response.json()) as { error?: { code: number; message: string } }
      if (answer.error === undefined) return
      expect(KNOWN).toContain(answer.error.code)
      expect(answer.error.message).not.toMatch(/\.ts:|\[object/)
      expect((await testServer.ok('1.0', 'ListTasks')).totalSize).toBe(before)
    }),
    { numRuns: 400 },
  )
  const sent = await testServer.ok('1.0', 'SendMessage', {
    message: textMessage('1.0', 'still there?'),
  })
  expect(sent.task.status.state).toBe('TASK_STATE_COMPLETED')
})

const segment = fc.oneof(
  fc.constantFrom(
    'tasks',
    'message:send',
    'message:stream',
    'v1',
    'agents',
    'script',
    'x',
    'x:cancel',
    'x:subscribe',
    'x:pause',
    'x:resume',
    'x:injectReminder',
    'pushNotificationConfigs',
    'extendedAgentCard',
    'card',
    '.well-known',
    'agent-card.json',
    'default',
    '%00',
    '%',
    '..',
    '',
  ),
  fc.webSegment({ size: 'small' }),
)

it('REST answers every address with its own kind of answer, or leaves it alone', async () => {
  const testServer = await openTestServer()
  const path = fc.array(segment, { maxLength: 6 }).map((all) => `/${all.join('/')}`)
  const verb = fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'HEAD')
  const query = fc.webQueryParameters({ size: 'small' })
  await fc.assert(
    fc.asyncProperty(verb, path, query, value, headers, async (method, at, search, body, given) => {
      const hasBody = method !== 'GET' && method !== 'HEAD'
      const request = new Request(`http://lull.test${at.replaceAll(/\/{2,}/g, '/')}?${search}`, {
        method,
        headers: { 'content-type': 'application/json', ...given },
        ...(hasBody ? { body: JSON.stringify(body) } : {}),
      })
      const response = await testServer.raw(request)
      if (response === undefined) return
      expect([200, 204, 304, 400, 404, 405, 409, 415]).toContain(response.status)
      await response.body?.cancel()
    }),
    { numRuns: 600 },
  )
  expect((await testServer.fetch('GET', '/tasks')).status).toBe(200)
})
