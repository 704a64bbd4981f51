/** What every request meets first, over a real socket: the bytes are what matters here. */

import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { LullError } from '../../core/errors.ts'
import { noMeter } from '../../ports/meter.ts'
import { type A2A, createA2A, ownTaskScopes } from '../../protocols/a2a/index.ts'
import type { Admission } from '../auth/admission.ts'
import { callerOf, owner } from '../auth/identity.ts'
import { createRefusedAttempts } from '../auth/refused-attempts.ts'
import { openApp } from '../test-support/open-app.ts'
import { createBytesInFlight } from './bytes-in-flight.ts'
import { createFront, type FrontOptions } from './front.ts'
import { type Listener, listen } from './listen.ts'

const unlimited: Admission = {
  enter: () => () => undefined,
  take: () => undefined,
  close: () => undefined,
}

let open: Listener[] = []
afterEach(async () => {
  await Promise.all(open.map((listener) => listener.close(0)))
  open = []
})

async function openFront(more: Partial<FrontOptions> = {}): Promise<number> {
  return (await openBoth(more)).port
}

/** A2A as the socket reaches it, and as a fetch handler. */
async function openBoth(more: Partial<FrontOptions> = {}): Promise<{ port: number; a2a: A2A }> {
  const { app, engine, deps } = await openApp()
  const { store, clock, ids, log } = deps
  const a2a = createA2A({ engine, store, clock, ids, log, publicUrl: 'http://lull.test' })
  const listener = await listen('127.0.0.1', 0)
  open.push(listener)
  listener.answer(
    createFront({
      inFlight: createBytesInFlight(100_000_000),
      meter: noMeter,
      a2a,
      app,
      log,
      host: '127.0.0.1',
      authenticate: () => owner,
      admission: unlimited,
      refused: createRefusedAttempts(engine.audit),
      ...more,
    }),
  )
  return { port: listener.port, a2a }
}

it('answers 503 with a time to wait while the store that keeps the credentials is away', async () => {
  const authenticate = async () => {
    throw new LullError('STORE_UNAVAILABLE', { why: 'PostgreSQL is shutting down' })
  }
  const port = await openFront({ authenticate })
  for (const path of ['/', '/ops/tasks', '/events']) {
    const { status, headers, body } = await ask({ port, path, method: 'POST' })
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    expect(JSON.parse(body)).toMatchObject({
      error: { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('shutting down') },
    })
  }
})

it('tells a missing credential from a wrong one', async () => {
  const port = await openFront({ authenticate: () => undefined })
  const missing = await ask({ port, path: '/ops/tasks' })
  const wrong = await ask({ port, path: '/ops/tasks', headers: { authorization: 'Bearer x' } })
  expect([missing.status, wrong.status]).toEqual([401, 401])
  expect(missing.body).toContain('needs a credential')
  expect(wrong.body).toContain('The credential is wrong')
  expect(missing.headers['www-authenticate']).not.toContain('invalid_token')
  expect(wrong.headers['www-authenticate']).toContain('error="invalid_token"')
})

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

function ask(
  options: RequestOptions,
  chunks: readonly (string | Uint8Array)[] = [],
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', agent: false, ...options }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
      })
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body }),
      )
    })
    request.on('error', reject)
    for (const chunk of chunks) request.write(chunk)
    request.end()
  })
}

const structured = { 'content-type': 'application/cloudevents+json' }
const rpc = { 'content-type': 'application/json', 'a2a-version': '1.0' }
const event = { specversion: '1.0', id: '1', source: 'ci', type: 'done' }
const get = (id: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } })

describe('every request', () => {
  it.each(['/', '/healthz', '/tasks', '/nowhere'])(
    'is refused under a foreign name: %s',
    async (path) => {
      const port = await openFront()
      const { status, body } = await ask({ port, path, headers: { host: 'evil.example' } })
      expect(status).toBe(403)
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'HOST_NOT_ALLOWED' } })
    },
  )

  it.each(['/', '/events'])('is refused from a page of another origin: %s', async (path) => {
    const port = await openFront()
    const headers = { ...structured, origin: 'http://evil.example' }
    const { status, body } = await ask({ port, method: 'POST', path, headers }, ['{}'])
    expect(status).toBe(403)
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'ORIGIN_NOT_ALLOWED' } })
  })

  it.each([
    ['a declared length', '/', { ...rpc, 'content-length': '280' }],
    ['no declared length', '/', rpc],
    ['a declared length', '/events', { ...structured, 'content-length': '280' }],
    ['no declared length', '/events', structured],
  ])('is refused when it is too large, with %s: %s', async (_, path, headers) => {
    const port = await openFront({ bodyLimitBytes: 100 })
    const parts = ['x'.repeat(90), 'x'.repeat(190)]
    const { status, body } = await ask({ port, method: 'POST', path, headers }, parts)
    expect(status).toBe(413)
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'LIMIT_EXCEEDED' } })
  })

  it('is put together from its pieces, wherever they are cut', async () => {
    const port = await openFront()
    const text = Buffer.from(get('ä'))
    const at = text.indexOf(0xc3) + 1
    const pieces = [text.subarray(0, at), text.subarray(at)]
    const { status, body } = await ask({ port, method: 'POST', path: '/', headers: rpc }, pieces)
    expect(status).toBe(200)
    expect(JSON.parse(body)).toMatchObject({
      error: { code: -32001, message: 'Task ä was not found' },
    })
    const sent = [JSON.stringify(event).slice(0, 9), JSON.stringify(event).slice(9)]
    const options = { port, method: 'POST', path: '/events', headers: structured }
    expect((await ask(options, sent)).status).toBe(202)
  })
})

it('answers A2A, what lies beside it, and what is not there', async () => {
  const port = await openFront()
  const statuses = async (method: string, path: string) =>
    (await ask({ port, method, path })).status
  expect(await statuses('GET', '/tasks')).toBe(200)
  expect(await statuses('GET', '/../tasks')).toBe(200)
  expect(await statuses('GET', 'http://127.0.0.1/tasks?pageSize=1')).toBe(200)
  expect(await statuses('HEAD', '/.well-known/agent-card.json')).toBe(200)
  expect(await statuses('GET', '/healthz')).toBe(200)
  expect(await statuses('GET', '/nowhere')).toBe(404)
  expect(await statuses('DELETE', '/')).toBe(405)
})

it('answers requests that were sent without waiting, whole and in pieces, in their order', async () => {
  const port = await openFront()
  const socket = connect(port, '127.0.0.1')
  const post = (body: string): string =>
    `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  const sent = post(get('first')) + post(get('second')) + post(get('third'))
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.write(sent.slice(0, -40))
  await expect.poll(() => text).toContain('Task second was not found')
  socket.write(sent.slice(-40))
  await expect.poll(() => text).toContain('Task third was not found')
  socket.destroy()
  expect(text.match(/Task \w+ was/g)).toEqual([
    'Task first was',
    'Task second was',
    'Task third was',
  ])
  const [head = '', body = ''] = text.split('\r\n\r\n')
  expect(head.toLowerCase()).toContain(`content-length: ${body.indexOf('HTTP/1.1')}`)
})

it.each(['plain', 'café', 'ä', '東京', '🛫', '\ud83d'])(
  'answers in UTF-8, whatever the alphabet: %s',
  async (id) => {
    const port = await openFront()
    const asked = JSON.stringify({ jsonrpc: '2.0', id, method: 'GetTask', params: { id: 'x' } })
    const answer = await ask({ port, method: 'POST', headers: rpc }, [asked])
    expect(JSON.parse(answer.body)).toMatchObject({ id, error: { code: -32001 } })
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.body)))
  },
)

it('outlives a client that goes away in the middle of its request', async () => {
  const port = await openFront()
  const socket = connect(port, '127.0.0.1')
  await new Promise<void>((resolve) =>
    socket.write(
      `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
      () => resolve(),
    ),
  )
  socket.destroy()
  expect((await ask({ port, path: '/healthz' })).status).toBe(200)
})

it.each<[string, string, string, Record<string, string>, (string | Uint8Array)?]>([
  ['a get', 'POST', '/', rpc, get('x')],
  ['a get of 0.3', 'POST', '/', { 'content-type': 'application/json' }, get('x')],
  ['no body', 'POST', '/', rpc],
  ['no JSON', 'POST', '/', rpc, '{"jsonrpc":'],
  ['a name twice', 'POST', '/', rpc, '{"jsonrpc":"2.0","jsonrpc":"2.0"}'],
  ['bytes that are not UTF-8', 'POST', '/', rpc, new Uint8Array([123, 255])],
  ['levels without end', 'POST', '/', rpc, '['.repeat(90) + ']'.repeat(90)],
  ['another media type', 'POST', '/', { 'content-type': 'text/plain' }, get('x')],
  ['an unknown version', 'POST', '/', { ...rpc, 'a2a-version': '7.0' }, get('x')],
  ['a stream that is refused', 'POST', '/message:stream', rpc, '{}'],
  ['REST', 'GET', '/tasks?pageSize=1&status=nonsense', {}],
  ['REST with a tenant', 'GET', '/acme/tasks', { 'a2a-extensions': 'urn:lull:a2a:task-control:1' }],
  ['letters in percent', 'GET', '/tasks/%C3%A4%2F%20', {}],
  ['broken percent', 'GET', '/tasks/%C3%', {}],
  ['a wrong verb', 'DELETE', '/tasks/x', {}],
  ['an agent that is not there', 'POST', '/agents/nobody', rpc, get('x')],
  ['a card', 'GET', '/.well-known/agent-card.json', { 'a2a-version': '1.0' }],
  ['its head', 'HEAD', '/.well-known/agent-card.json', {}],
])('answers on a socket as the fetch handler does: %s', async (_, method, path, headers, body) => {
  const { port, a2a } = await openBoth()
  const given = { method, headers, ...(body === undefined ? {} : { body }) }
  const env = { caller: callerOf(owner), may: ownTaskScopes, anyTenant: true }
  const response = await a2a.fetch(new Request(`http://127.0.0.1${path}`, given), env)
  const answer = await ask({ port, method, path, headers }, body === undefined ? [] : [body])
  if (response === undefined) {
    expect(answer.status).toBe(404)
    return
  }
  expect(answer.status).toBe(response.status)
  expect(answer.body).toBe(await response.text())
  for (const [name, value] of response.headers)
    expect([name, answer.headers[name]]).toEqual([name, value])
})

/** What the server answers to bytes, until it closes the connection or `enough` is there. */
function answerTo(port: number, bytes: string, enough: RegExp = /\r\n\r\n/): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (enough.test(text)) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

describe('a request that two servers may read differently', () => {
  const call = '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}'
  const head = 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n'

  it.each([
    [
      'two credentials',
      `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: a\r\nauthorization: b\r\n\r\n`,
    ],
    ['two Host headers', `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: a.example\r\n\r\n`],
    [
      'two equal Host headers',
      `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nhOST: 127.0.0.1\r\n\r\n`,
    ],
    [
      'a length and chunks',
      `${head}Content-Length: ${call.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', `${head}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
    ['a header over two lines', `${head}X: a\r\n b\r\nContent-Length : 3\r\n\r\nabc`],
    ['a header that goes on in the next line', `${head}X-A: a\r\n b\r\nContent-Length: 0\r\n\r\n`],
    ['one line without a carriage return', `${head}X-A: a\nContent-Length: 0\r\n\r\n`],
    ['lines without a carriage return', `${head.replaceAll('\r\n', '\n')}\n\n`],
    [
      'chunks of a strange size',
      `${head}Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n`,
    ],
    ['an unknown coding', `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    [
      'a target with a user',
      'GET http://127.0.0.1@a.example/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    ],
    [
      'a target of another scheme',
      'GET ftp://127.0.0.1/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    ],
    [
      'a target whose path is in its query',
      'GET http://127.0.0.1?/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    ],
  ])('is refused: %s', async (_, bytes) => {
    expect(await answerTo(await openFront(), bytes)).toMatch(/^HTTP\/1\.1 400 /)
  })

  it.each([
    ['another host', 'http://evil.example/healthz', '127.0.0.1', 403],
    ['another host over TLS', 'HTTPS://evil.example:443/healthz', '127.0.0.1', 403],
    ['another host without a path', 'http://evil.example', '127.0.0.1', 403],
    ['this host, and another Host header', 'http://127.0.0.1:80/healthz', 'evil.example', 200],
    ['this host', 'http://localhost/healthz', 'localhost', 200],
  ])('is for the host of its absolute target: %s', async (_, target, host, status) => {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    expect(await answerTo(await openFront(), bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })
})

it('does not log the query of a request that failed', async () => {
  const logged: string[] = []
  const port = await openFront({
    log: (_level, text, fields) => logged.push(JSON.stringify({ text, ...fields })),
    a2a: { handle: () => Promise.reject(new Error('broken')) } as unknown as A2A,
  })
  expect((await ask({ port, path: '/tasks?key=secret' })).status).toBe(500)
  expect(logged.join()).toContain('/tasks')
  expect(logged.join()).not.toContain('secret')
})

it('tells its health also while strangers have used up their limits', async () => {
  const full: Admission = { ...unlimited, enter: () => ({ limit: 'requestsOpen', value: 1 }) }
  const port = await openFront({ admission: full })
  expect((await ask({ port, path: '/.well-known/agent-card.json' })).status).toBe(429)
  expect((await ask({ port, path: '/healthz' })).status).toBe(200)
})
