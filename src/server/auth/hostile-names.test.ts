/** Names and texts that try to be something else: a header, a path, a line of a stream, a prototype. */
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, startServer } from '../serve.ts'
import { bearerIn } from './authenticate.ts'

let serving: RunningServer
let data: string
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-names-'))
  const agents = [createScriptAgent()]
  serving = await startServer({ agents, port: 0, data, store: 'memory', log: () => undefined })
})
afterAll(async () => {
  await serving.close()
  rmSync(data, { recursive: true })
})

const json = { 'content-type': 'application/json', 'a2a-version': '1.0' }

async function rpc(method: string, params: object, more = {}): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return fetch(serving.url, { method: 'POST', headers: { ...json, ...more }, body })
}

/** As it is, without the changes that `fetch` makes to an address. */
function raw(path: string): Promise<{ status: number; headers: object; text: string }> {
  const { hostname, port } = new URL(serving.url)
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers: { 'a2a-version': '1.0' } }, async (response) => {
      const text = (await response.toArray()).join('')
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
    })
      .on('error', reject)
      .end()
  })
}

const hostile = [
  'a\r\nset-cookie: x=1',
  'a\nevent: done\ndata: {}\n\n',
  '../../etc/passwd',
  '..\\..\\keys.json',
  '%2e%2e%2fkeys.json',
  '__proto__',
  'constructor',
  'toString',
  '\u2028\u2029\u0000',
  '<script>alert(1)</script>',
]

describe.each(hostile)('%j', (name) => {
  it('as the id of a task, a context, a message or a handle adds no header and breaks nothing', async () => {
    for (const [method, params] of [
      ['GetTask', { id: name }],
      ['tasks/resume', { taskId: name, handle: name }],
      ['tasks/pause', { taskId: name, reason: name }],
      ['ListTasks', { contextId: name }],
      ['ListTasks', { pageToken: name }],
    ] as const) {
      const response = await rpc(method, params)
      expect(response.headers.get('set-cookie')).toBeNull()
      expect(response.headers.get('content-type')).toContain('json')
      expect(JSON.parse(await response.text())).not.toMatchObject({ error: { code: -32603 } })
    }
  })

  it('as the name of an agent, a tenant, a hold or a file is not found', async () => {
    const segment = encodeURIComponent(name)
    for (const path of [
      `/agents/${segment}/.well-known/agent-card.json`,
      `/agents/${segment}`,
      `/dashboard/assets/${segment}`,
      `/tasks/${segment}`,
      `/ops/tasks/${segment}`,
      `/ops/tasks/${segment}/timeline`,
    ]) {
      const { status, headers, text } = await raw(path)
      expect([path, [400, 404, 405].includes(status)]).toEqual([path, true])
      expect(headers).not.toHaveProperty('set-cookie')
      expect(text).not.toMatch(/root:|"keys"/)
    }
    const { status } = await raw(`/ops/tasks?tenant=${segment}`)
    expect([200, 400]).toContain(status)
  })

  it('in a text, a reason and an artifact is one event of a stream, as it was said', async () => {
    const script = [{ say: name }, { artifact: { name, text: name } }, { complete: name }]
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { script } }] }
    const response = await rpc('SendStreamingMessage', { message })
    const text = await response.text()
    const lines = text.split(/\r\n|\n|\r/).filter((line) => line !== '')
    for (const line of lines) expect(line).toMatch(/^(data: \{|id: |: )/)
    const frames = lines
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)))
    expect(JSON.stringify(frames)).toContain(JSON.stringify(name).slice(1, -1))
  })
})

it('members named like those of a prototype change no other object', async () => {
  const evil = '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}'
  const message = `{"messageId": "m", "role": "ROLE_USER", "metadata": ${evil}, "parts": [{"data": ${evil}}]}`
  const bodies = [
    `{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": ${message}, "metadata": ${evil}}}`,
    `{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": ${evil}}`,
    evil,
  ]
  for (const body of bodies) await fetch(serving.url, { method: 'POST', headers: json, body })
  const event = `{"specversion": "1.0", "id": "p", "source": "s", "type": "t", "data": ${evil}}`
  await fetch(`${serving.url}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: event,
  })
  await fetch(`${serving.url}/ops/holds:preview`, { method: 'POST', headers: json, body: evil })
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

it('a token that is longer than any of ours is refused before anything is computed', () => {
  const header = (length: number) => () => `Bearer ${'a'.repeat(length)}`
  expect(bearerIn({ method: 'GET', path: '/', header: header(8_000) })).toHaveLength(8_000)
  expect(bearerIn({ method: 'GET', path: '/', header: header(8_192) })).toBeUndefined()
})
