import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Agent, agent } from '../../engine/author/agent.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { recordSpans } from '../test-support/recorded-spans.ts'
import { type Embedded, type EmbedOptions, embed } from './embed.ts'

const greeter = (words = 'Hello'): Agent =>
  agent({
    name: 'greeter',
    description: 'Greets',
    run: async (task) => {
      if (task.text === 'wait') await task.park({ reason: 'x', onEvent: 'go' })
      return `${words}, ${task.text}!`
    },
  })

/** Express has no types of its own. */
interface Express {
  (...given: Parameters<RequestListener>): void
  use(...handlers: readonly unknown[]): void
  get(
    path: string,
    handler: (request: unknown, response: { send(text: string): void }) => void,
  ): void
}
const express = createRequire(import.meta.url)('express') as {
  (): Express
  json(options: { readonly type: readonly string[] }): unknown
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function embedded(some: Partial<EmbedOptions> = {}): Embedded {
  const lull = embed({
    agents: [greeter()],
    url: 'http://127.0.0.1/lull',
    store: createMemoryStore(),
    receiptKey: randomBytes(32).toString('base64'),
    log: () => undefined,
    ...some,
  })
  closing.push(() => lull.close())
  return lull
}

const call = (text: string, method = 'SendMessage') => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] } },
  }),
})

async function said(response: Response): Promise<unknown> {
  const { result } = (await response.json()) as {
    result: { task: { status: { message?: { parts: unknown } } } }
  }
  return result.task.status.message?.parts
}

async function listening(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The page of an app beside the agents, an agent's answer, its card, and an event: the same in every server. */
async function expectServed(url: string): Promise<void> {
  expect(await (await fetch(url)).text()).toBe('a page of the app')
  expect(await said(await fetch(`${url}/lull`, call('Ann')))).toEqual([{ text: 'Hello, Ann!' }])
  const card = await fetch(`${url}/lull/.well-known/agent-card.json`)
  expect(await card.json()).toMatchObject({ name: 'greeter' })
  const event = { specversion: '1.0', id: '1', source: 'test', type: 'go' }
  const headers = { 'content-type': 'application/cloudevents+json' }
  const emitted = await fetch(`${url}/lull/events`, {
    method: 'POST',
    headers,
    body: JSON.stringify(event),
  })
  expect(emitted.status).toBe(202)
  expect(await emitted.json()).toEqual({ accepted: 1, duplicates: 0, woken: 0 })
  expect((await fetch(`${url}/lull/nothing`)).status).toBe(404)
}

describe('embedded agents', () => {
  it('answer in a plain Node server', async () => {
    const { handler } = embedded()
    const page = (_: IncomingMessage, response: ServerResponse) => response.end('a page of the app')
    await expectServed(
      await listening((request, response) =>
        handler(request, response, () => page(request, response)),
      ),
    )
  })

  it('answer in Express, also behind a body parser and under a mount path', async () => {
    const app = express()
    app.use(express.json({ type: ['application/json', 'application/cloudevents+json'] }))
    app.use('/lull', embedded().handler)
    app.get('/', (_, response) => response.send('a page of the app'))
    await expectServed(await listening(app))
  })

  it('answer in Hono', async () => {
    const lull = embedded({ insecure: true })
    const app = new Hono()
    app.get('/', (c) => c.text('a page of the app'))
    app.all('/lull/*', (c) => lull.fetch(c.req.raw))
    app.all('/lull', (c) => lull.fetch(c.req.raw))
    const { getRequestListener } = await import('@hono/node-server')
    await expectServed(await listening(getRequestListener(app.fetch)))
  })

  it('answer in Fastify, whose other routes keep their parsers', async () => {
    const app = fastify()
    await app.register(embedded().fastify)
    app.get('/', () => 'a page of the app')
    app.post('/echo', (request) => request.body)
    await expectServed(await app.listen({ port: 0, host: '127.0.0.1' }))
    const echoed = await app.inject({ method: 'POST', url: '/echo', payload: { a: 1 } })
    expect(echoed.json()).toEqual({ a: 1 })
    await app.close()
  })

  it('end their streams and close when a Fastify server closes', async () => {
    const lull = embedded()
    const app = fastify()
    await app.register(lull.fastify)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const response = await fetch(`${url}/lull`, call('wait', 'SendStreamingMessage'))
    const frames = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    while (!seen.includes('"x"')) seen += (await frames?.read())?.value ?? ''
    await app.close()
    while ((await frames?.read())?.done === false);
    expect((await (await lull.engine).health()).draining).toBe(true)
  })

  it('stream a task', async () => {
    const lull = embedded({ insecure: true })
    const request = new Request('http://127.0.0.1/lull', call('Ann', 'SendStreamingMessage'))
    const response = await lull.fetch(request)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(await response.text()).toContain('Hello, Ann!')
  })

  it('refuse other hosts and pages, and callers that the app does not know', async () => {
    const url = 'http://127.0.0.1/lull'
    const refused = async (lull: Embedded, headers: Record<string, string>) =>
      (await lull.fetch(new Request(url, { ...call('x'), headers }))).status
    expect(await refused(embedded(), { host: 'evil.example' })).toBe(403)
    expect(await refused(embedded(), { origin: 'https://evil.example' })).toBe(403)
    expect(await refused(embedded({ caller: () => undefined }), {})).toBe(401)
    const open = embedded({ url: 'https://agents.example.com/lull' })
    const call1 = new Request('https://agents.example.com/lull', call('x'))
    expect((await open.fetch(call1)).status).toBe(401)
    const known = embedded({
      url: 'https://agents.example.com/lull',
      caller: () => ({ tenant: 'acme', principal: 'ann' }),
    })
    const call2 = new Request('https://agents.example.com/lull', call('x'))
    expect((await known.fetch(call2)).status).toBe(200)
    expect(
      (await (await known.engine).list({ tenant: 'acme', principal: 'ann' })).tasks,
    ).toHaveLength(1)
  })

  it('open no engine while Next builds the app, which loads the modules of its routes', async () => {
    vi.stubEnv('NEXT_PHASE', 'phase-production-build')
    const store = createMemoryStore()
    const log = vi.fn()
    const building = embed({ agents: [greeter()], url: 'http://127.0.0.1/lull', store, log })
    await expect(building.engine).rejects.toThrow('next build')
    await building.close()
    expect(log).not.toHaveBeenCalled()
    vi.unstubAllEnvs()
    expect((await embedded({ store }).engine).agents.size).toBe(1)
  })

  it('have a request span that continues the trace of the caller, and ends with the stream', async () => {
    const spans = recordSpans()
    try {
      const lull = embedded({ insecure: true })
      const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
      const traced = (text: string, method: string): Request => {
        const { headers, ...rest } = call(text, method)
        return new Request('http://127.0.0.1/lull', {
          ...rest,
          headers: { ...headers, traceparent },
        })
      }
      await (await lull.fetch(traced('Ann', 'SendMessage'))).json()
      const sent = spans.one('POST /')
      expect(sent.parentSpanContext?.spanId).toBe('2'.repeat(16))
      expect(sent.attributes).toMatchObject({ 'http.response.status_code': 200 })
      const streamed = await lull.fetch(traced('Bob', 'SendStreamingMessage'))
      expect(spans.named('POST /')).toHaveLength(1)
      expect(await streamed.text()).toContain('Hello, Bob!')
      expect(spans.named('POST /')).toHaveLength(2)
      const traces = spans.named('segment greeter').map((span) => span.spanContext().traceId)
      expect(traces).toEqual(['1'.repeat(32), '1'.repeat(32)])
      const left = await lull.fetch(traced('wait', 'SendStreamingMessage'))
      await left.body?.cancel()
      expect(spans.named('POST /')).toHaveLength(3)
    } finally {
      await spans.stop()
    }
  })

  it('are taken over by a second call with the same store, as after a hot reload', async () => {
    const store = createMemoryStore()
    const first = embedded({ store, insecure: true })
    const ask = async (lull: Embedded, text: string) =>
      said(await lull.fetch(new Request('http://127.0.0.1/lull', call(text))))
    expect(await ask(first, 'Ann')).toEqual([{ text: 'Hello, Ann!' }])
    const renamed = agent({ ...greeter('Bye'), name: 'waver' })
    const second = embedded({ store, insecure: true, agents: [renamed] })
    expect(await second.engine).toBe(await first.engine)
    expect(await ask(second, 'Bob')).toEqual([{ text: 'Bye, Bob!' }])
    // A handler that the app still has answers with the new agents too.
    expect(await ask(first, 'Cy')).toEqual([{ text: 'Bye, Cy!' }])
    const card = new Request('http://127.0.0.1/lull/.well-known/agent-card.json')
    expect(await (await first.fetch(card)).json()).toMatchObject({ name: 'waver' })
  })
})
