/** What a page of another origin gets, at every door. The guard has its own tests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, startServer } from '../serve.ts'

const app = 'https://app.example.com'
let data: string
let serving: RunningServer
let closed: RunningServer

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-cors-'))
  const usual = {
    agents: [createScriptAgent()],
    port: 0,
    store: 'memory',
    log: () => undefined,
  } as const
  serving = await startServer({
    ...usual,
    data: join(data, 'a'),
    auth: { modes: ['keys'] },
    allowedOrigins: [`${app}/`],
  })
  closed = await startServer({ ...usual, data: join(data, 'b') })
})
afterAll(async () => {
  await Promise.all([serving.close(), closed.close()])
  rmSync(data, { recursive: true })
})

const doors: readonly (readonly [string, string, string])[] = [
  ['A2A', 'POST', '/'],
  ['an agent', 'POST', '/agents/script'],
  ['REST', 'GET', '/tasks/1'],
  ['cards', 'GET', '/.well-known/agent-card.json'],
  ['events', 'POST', '/events'],
  ['ops', 'DELETE', '/ops/holds/1'],
  ['changes', 'GET', '/ops/changes'],
  ['ACP over HTTP', 'POST', '/acp'],
  ['nothing', 'GET', '/no/such/path'],
]

function preflight(url: string, path: string, method: string, origin: string): Promise<Response> {
  const headers = {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'a2a-version,authorization,content-type',
  }
  return fetch(url + path, { method: 'OPTIONS', headers })
}

describe.each(doors)('CORS of %s', (_, method, path) => {
  it('answers the preflight of an allowed origin without a credential', async () => {
    const { status, headers } = await preflight(serving.url, path, method, app)
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe(app)
    expect(headers.get('access-control-allow-methods')).toContain(method)
    expect(headers.get('access-control-allow-headers')).toContain('authorization')
    expect(headers.get('vary')).toContain('Origin')
    expect(headers.has('access-control-allow-credentials')).toBe(false)
  })

  it('lets the page read the answer, also a refusal', async () => {
    const response = await fetch(serving.url + path, { method, headers: { origin: app } })
    await response.body?.cancel()
    expect(response.headers.get('access-control-allow-origin')).toBe(app)
    expect(response.headers.get('vary')).toContain('Origin')
  })

  it('refuses other origins, and says nothing of CORS to them', async () => {
    for (const origin of [
      'https://evil.example.com',
      `${app}.evil.com`,
      'null',
      'http://app.example.com',
    ]) {
      const asked = await preflight(serving.url, path, method, origin)
      const plain = await fetch(serving.url + path, { method, headers: { origin } })
      for (const { status, headers } of [asked, plain]) {
        expect([origin, status]).toEqual([origin, 403])
        expect(headers.has('access-control-allow-origin')).toBe(false)
      }
    }
  })

  it('is off when no origin is configured', async () => {
    const asked = await preflight(closed.url, path, method, app)
    expect([asked.status, asked.headers.has('access-control-allow-origin')]).toEqual([403, false])
    const plain = await fetch(closed.url + path, { method })
    await plain.body?.cancel()
    expect(plain.headers.get('vary') ?? '').not.toMatch(/^Origin/)
  })
})

it('sends a cache that asks without an origin the header Vary, and no permission', async () => {
  const { headers } = await fetch(`${serving.url}/.well-known/agent-card.json`)
  expect(headers.get('vary')).toBe('A2A-Version, Origin')
  expect(headers.has('access-control-allow-origin')).toBe(false)
})

it('does not reflect what is not a list of header names', async () => {
  const { request } = await import('node:http')
  const headers = {
    origin: app,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x; y=<script>',
  }
  const { hostname, port } = new URL(serving.url)
  const seen = await new Promise<unknown>((resolve, reject) => {
    request({ hostname, port, method: 'OPTIONS', headers }, (response) => {
      response.resume()
      resolve(response.headers['access-control-allow-headers'])
    })
      .on('error', reject)
      .end()
  })
  expect(seen).toBeUndefined()
})
