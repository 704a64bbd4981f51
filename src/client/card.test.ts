import { expect, it } from 'vitest'
import { cardUrls } from './card.ts'
import { connect } from './client.ts'

const skills = [{ id: 's', name: 'S', description: 's', tags: [] }]
const about = { name: 'a', description: 'b', version: '1', skills }

const at = (url: string, protocolBinding: string, protocolVersion: string) => ({
  url,
  protocolBinding,
  protocolVersion,
})

/** A server that has nothing but this card. */
const serving = (card: object, path = '/.well-known/agent-card.json') => ({
  fetch: async (url: string) =>
    new URL(url).pathname === path
      ? new Response(JSON.stringify({ ...about, ...card }))
      : new Response('<html>', { status: 404 }),
})

it.each([
  ['http://h', 'http://h/.well-known/agent-card.json'],
  ['http://h/agents/x/', 'http://h/agents/x/.well-known/agent-card.json'],
  ['http://h/cards/mine.json?a=1', 'http://h/cards/mine.json?a=1'],
])('finds the card of %s', (url, card) => {
  expect(cardUrls(url)[0]).toBe(card)
})

it('takes the newest version, and of that what the card names first', async () => {
  const supportedInterfaces = [
    at('http://h/old', 'JSONRPC', '0.3'),
    at('http://h/grpc', 'GRPC', '1.0'),
    at('http://h/next', 'JSONRPC', '2.0'),
    { ...at('http://h/rest', 'HTTP+JSON', '1.0.1'), tenant: 'acme' },
    at('http://h/rpc', 'JSONRPC', '1.0'),
  ]
  const server = serving({ supportedInterfaces })
  const rest = await connect('http://h', server)
  expect(rest).toMatchObject({ url: 'http://h/rest', version: '1.0', binding: 'HTTP+JSON' })
  const rpc = await connect('http://h', { ...server, binding: 'JSONRPC' })
  expect(rpc).toMatchObject({ url: 'http://h/rpc', version: '1.0' })
  const old = await connect('http://h', { ...server, version: '0.3' })
  expect(old.url).toBe('http://h/old')
})

it('reads a card of 0.3, and finds it under its old name', async () => {
  const card = {
    protocolVersion: '0.3.0',
    url: 'http://h/rest',
    preferredTransport: 'HTTP+JSON',
    additionalInterfaces: [{ url: '/rpc', transport: 'JSONRPC' }],
  }
  const client = await connect('http://h', serving(card, '/.well-known/agent.json'))
  expect(client).toMatchObject({ url: 'http://h/rest', version: '0.3', binding: 'HTTP+JSON' })
  expect((await client.card()).interfaces.map(({ url }) => url)).toEqual([
    'http://h/rest',
    'http://h/rpc',
  ])
})

it('does not follow a card to another origin unless that was allowed', async () => {
  const server = serving({ supportedInterfaces: [at('https://evil.example/a', 'JSONRPC', '1.0')] })
  await expect(connect('http://h', server)).rejects.toMatchObject({
    kind: 'unsupported',
    reason: 'ORIGIN_NOT_ALLOWED',
  })
  const origins = ['https://evil.example']
  expect((await connect('http://h', { ...server, origins })).url).toBe('https://evil.example/a')
  const here = serving({ supportedInterfaces: [at('http://127.0.0.1:1', 'JSONRPC', '1.0')] })
  expect((await connect('http://localhost:1', here)).url).toBe('http://127.0.0.1:1/')
})

it.each([
  ['no card', 'http://h', async () => new Response('', { status: 404 }), 'NOT_A2A'],
  ['no JSON', 'http://h', async () => new Response('<html>'), 'NOT_A2A'],
  ['no http', 'ftp://h', async () => new Response(''), 'NOT_A2A'],
  ['no interface of ours', 'http://h', async () => new Response('{}'), 'NOT_SUPPORTED'],
  ['no admittance', 'http://h', async () => new Response('', { status: 401 }), 'UNAUTHENTICATED'],
  ['no server', 'http://h', () => Promise.reject(new TypeError('fetch failed')), 'UNREACHABLE'],
])('says so when there is %s', async (_, url, fetch, reason) => {
  await expect(connect(url, { fetch })).rejects.toMatchObject({ reason })
})

it.each([
  ['nothing', {}, { pause: false, conditions: false, reminders: { inject: false } }],
  [
    'the fields of the RFCs',
    {
      supportsPause: true,
      supportsAwaitResumption: true,
      resumeCauses: ['explicit_resume', 'timeout'],
      reminders: { inject: true, emit: false, propagate: ['session', 'x'], roleHints: ['system'] },
    },
    {
      pause: true,
      awaitResumption: true,
      conditions: true,
      resumeCauses: ['explicit_resume', 'timeout'],
      reminders: { inject: true, emit: false, propagate: ['session'], roleHints: ['system'] },
    },
  ],
  [
    'our extensions',
    {
      streaming: true,
      extensions: [
        { uri: 'urn:lull:a2a:task-control:1', params: { pause: true, modes: ['finish_step'] } },
        { uri: 'urn:lull:a2a:reminders:1', params: { inject: true } },
        { uri: 'urn:lull:a2a:user-consent:1' },
      ],
    },
    {
      streaming: true,
      pause: true,
      modes: ['finish_step'],
      awaitResumption: false,
      conditions: false,
      consent: true,
    },
  ],
])('reads what can be done from %s', async (_, capabilities, meant) => {
  const supportedInterfaces = [at('http://h', 'JSONRPC', '1.0')]
  const client = await connect('http://h', serving({ supportedInterfaces, capabilities }))
  expect(await client.capabilities()).toMatchObject(meant)
})
