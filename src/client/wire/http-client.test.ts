import { expect, it } from 'vitest'
import { createClient } from '../client.ts'

const task = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } }
const answer = (result: unknown) => new Response(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))

interface Asked {
  readonly url: string
  readonly init: RequestInit
}

function recorded(...responses: readonly (() => Response)[]) {
  const asked: Asked[] = []
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    asked.push({ url, init })
    return (responses[asked.length - 1] ?? (() => answer(task)))()
  }
  return { asked, fetch }
}

const headersOf = ({ init }: Asked) => init.headers as Record<string, string>

it('sends credentials with every request, and never along a redirect', async () => {
  const { asked, fetch } = recorded()
  const client = createClient({ url: 'http://h/a', fetch, headers: { authorization: 'Bearer 1' } })
  await client.get('t1')
  expect(headersOf(asked[0]!)).toMatchObject({ authorization: 'Bearer 1', 'a2a-version': '1.0' })
  expect(asked[0]?.init.redirect).toBe('error')
})

it('asks for fresh credentials once when they are refused', async () => {
  const refused: boolean[] = []
  const { asked, fetch } = recorded(() => new Response('', { status: 401 }))
  const headers = async (request: { refused: boolean }) => {
    refused.push(request.refused)
    return { authorization: `Bearer ${refused.length}` }
  }
  const client = createClient({ url: 'http://h', fetch, headers })
  expect((await client.get('t1')).id).toBe('t1')
  expect(refused).toEqual([false, true])
  expect(asked.map((one) => headersOf(one)['authorization'])).toEqual(['Bearer 1', 'Bearer 2'])

  const never = recorded(...Array(4).fill(() => new Response('', { status: 401 })))
  const locked = createClient({ url: 'http://h', fetch: never.fetch, headers: async () => ({}) })
  await expect(locked.get('t1')).rejects.toMatchObject({ reason: 'UNAUTHENTICATED', status: 401 })
  expect(never.asked).toHaveLength(2)
})

it('echoes the tenant: in the parameters of JSON-RPC, in the path of REST', async () => {
  const { asked, fetch } = recorded()
  await createClient({ url: 'http://h', fetch, tenant: 'a/b' }).get('t1')
  expect(JSON.parse(String(asked[0]?.init.body)).params).toEqual({ tenant: 'a/b', id: 't1' })
  const rest = recorded(() => new Response(JSON.stringify(task)))
  const binding = 'HTTP+JSON'
  const client = createClient({ url: 'http://h/x/', fetch: rest.fetch, tenant: 'a/b', binding })
  await client.get('t/1', { historyLength: 2 })
  expect(rest.asked[0]?.url).toBe('http://h/x/a%2Fb/tasks/t%2F1?historyLength=2')
})

it.each([
  ['a page', () => new Response('<html>hi</html>'), 'NOT_A2A'],
  ['JSON of another kind', () => new Response('{"ok": true}'), 'NOT_A2A'],
  ['a task without an id', () => answer({ status: {} }), 'NOT_A2A'],
  ['a gateway', () => new Response('bad gateway', { status: 502 }), 'UNAVAILABLE'],
])('is not taken in by %s', async (_, response, reason) => {
  const { fetch } = recorded(response)
  const client = createClient({ url: 'http://h', fetch })
  await expect(client.get('t1')).rejects.toMatchObject({ kind: 'unreachable', reason })
})

it.each([
  ['of JSON-RPC', 'JSONRPC', { error: { code: -32601, message: 'no' } }, 200],
  ['of REST', 'HTTP+JSON', { error: { code: 404, message: 'no', details: [] } }, 404],
  ['without a body', 'HTTP+JSON', undefined, 404],
] as const)('takes an unknown method %s for an extension that is missing', async (...row) => {
  const [, binding, body, status] = row
  const { fetch } = recorded(
    () => new Response(body === undefined ? '<html>' : JSON.stringify(body), { status }),
  )
  const client = createClient({ url: 'http://h', binding, fetch })
  await expect(client.resume('t1')).rejects.toMatchObject({ kind: 'unsupported' })
})
