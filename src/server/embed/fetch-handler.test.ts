import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { agent } from '../../engine/author/agent.ts'
import type { Caller } from '../../engine/caller.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { type Embedded, type EmbedOptions, embed } from './embed.ts'

const waiter = agent({
  name: 'waiter',
  description: 'Waits for an event',
  run: async (task) => {
    await task.park({ reason: 'x', onEvent: 'go' })
    return 'woken'
  },
})

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const url = 'http://localhost:3000/lull'

function embedded(some: Partial<EmbedOptions>): Embedded {
  const receiptKey = randomBytes(32).toString('base64')
  const store = createMemoryStore()
  const lull = embed({ agents: [waiter], url, store, receiptKey, log: () => undefined, ...some })
  closing.push(() => lull.close())
  return lull
}

const card = `${url}/.well-known/agent-card.json`

/** The status that a program at `peer` gets from the handler for Node. */
async function statusFrom(peer: string | undefined, some: Partial<EmbedOptions>): Promise<number> {
  const { handler } = embedded(some)
  const server = createServer((request, response) => {
    Object.defineProperty(request.socket, 'remoteAddress', { value: peer })
    request.headers.host = 'localhost:3000'
    handler(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return (await fetch(`http://127.0.0.1:${port}/lull/.well-known/agent-card.json`)).status
}

it.each(['192.168.1.9', '::ffff:192.168.1.9', 'fe80::1', undefined])(
  'M1: a program at %s that names localhost as its host is refused without caller',
  async (peer) => {
    expect(await statusFrom(peer, {})).toBe(401)
  },
)

it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])('M1: a program at %s is served', async (peer) => {
  expect(await statusFrom(peer, {})).toBe(200)
})

it('M4: strangers read the card of an app that knows its callers, and nothing else', async () => {
  const { fetch } = embedded({ url: 'https://agents.example.com/lull', caller: () => undefined })
  const statusOf = async (path: string, method = 'GET') =>
    (await fetch(new Request(`https://agents.example.com/lull${path}`, { method }))).status
  expect(await statusOf('/.well-known/agent-card.json')).toBe(200)
  expect(await statusOf('/.well-known/agent-card.json', 'HEAD')).toBe(200)
  expect(await statusOf('/.well-known/agent-card.json', 'POST')).toBe(401)
  expect(await statusOf('/tasks')).toBe(401)
  expect(await statusOf('/events', 'POST')).toBe(401)
})

it('M1: a request without a socket needs a caller, or an app that serves every caller', async () => {
  const refused = await embedded({}).fetch(new Request(card))
  expect(refused.status).toBe(401)
  expect(await refused.text()).toContain('`caller`')
  expect((await embedded({ insecure: true }).fetch(new Request(card))).status).toBe(200)
  expect(await statusFrom('192.168.1.9', { insecure: true })).toBe(200)
  const unknown = embedded({ insecure: true, caller: () => undefined })
  expect((await unknown.fetch(new Request(`${url}/tasks`))).status).toBe(401)
})

const ann: Caller = { tenant: 'acme', principal: 'ann' }

it.each([
  ['another principal', { tenant: 'acme', principal: 'eve' }, 'paused-by-agent'],
  ['the same principal', ann, 'completed'],
  ['an operator', { tenant: 'acme', principal: 'ci', operator: true }, 'completed'],
] as const)('M2: an event of %s leaves the task of ann %#', async (_, caller, state) => {
  const lull = embedded({ caller: () => caller })
  const engine = await lull.engine
  const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'x' }] }
  const sent = await engine.send(ann, { message })
  if (sent.kind !== 'task') throw new Error('not a task')
  const parked = await engine.waitFor(ann, sent.task.id, (task) => task.state === 'paused-by-agent')
  expect(parked.state).toBe('paused-by-agent')
  // What a sender gives for the attributes of the server is dropped.
  const event = { specversion: '1.0', id: '1', source: 'x', type: 'go' }
  const body = JSON.stringify({ ...event, lullsender: 'ann', lullreach: 'all' })
  const headers = { 'content-type': 'application/cloudevents+json' }
  const init = { method: 'POST', headers, body }
  expect((await lull.fetch(new Request(`${url}/events`, init))).status).toBe(202)
  if (state === 'completed') await engine.waitFor(ann, sent.task.id, (task) => task.state === state)
  expect((await engine.get(ann, sent.task.id)).state).toBe(state)
})

it.each(['', '/events'])(
  'M3: a body at %s above the limit is not read to its end',
  async (path) => {
    const lull = embedded({ insecure: true, bodyLimitBytes: 1_000 })
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        if (pulled === 100) controller.close()
        else controller.enqueue(new Uint8Array(400))
      },
    })
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
    const init = { method: 'POST', headers, body: endless, duplex: 'half' as const }
    const response = await lull.fetch(new Request(url + path, init))
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ error: { code: 'LIMIT_EXCEEDED' } })
    expect(pulled).toBeLessThan(10)
  },
)

it('M3: a body that says it is above the limit is not read', async () => {
  const body = 'x'.repeat(10 * 1024 * 1024 + 1)
  const headers = { 'content-length': String(body.length) }
  const request = new Request(url, { method: 'POST', headers, body })
  expect((await embedded({ insecure: true }).fetch(request)).status).toBe(413)
  expect(request.bodyUsed).toBe(false)
})
