/**
 * Two tenants with the same principal use the same ids at every door. The answers to one tenant are the same, byte for byte,
 * whether the other has such a thing or nobody has it. A2A, REST and ops are in matrix.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { scopes } from '../../core/scopes.ts'
import type { RunningServer } from '../serve.ts'
import { type KeyedServer, openKeyedServer } from '../test-support/keyed-server.ts'

let serving: RunningServer
let server: KeyedServer
let acme: Party
let evil: Party

interface Party {
  readonly headers: Readonly<Record<string, string>>
  readonly acp: AcpSocket
}

interface AcpSocket {
  /** The text of the answer, without the id of the request. */
  ask(method: string, params: object): Promise<string>
  close(): void
}

/** ACP as lines of JSON, because the bytes are what matters here. */
async function openAcp(headers: Readonly<Record<string, string>>): Promise<AcpSocket> {
  const socket = new WebSocket(`${serving.url.replace('http', 'ws')}/acp`, { headers })
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  const waiting = new Map<number, (text: string) => void>()
  let last = 0
  socket.on('message', (bytes) => {
    const { id, ...rest } = JSON.parse(String(bytes)) as { id?: number }
    if (id !== undefined) waiting.get(id)?.(JSON.stringify(rest))
  })
  const ask: AcpSocket['ask'] = (method, params) =>
    new Promise((resolve) => {
      const id = ++last
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
  await ask('initialize', { protocolVersion: 1, clientCapabilities: { _meta: { lull: {} } } })
  return { ask, close: () => socket.close() }
}

async function party(tenant: string): Promise<Party> {
  const { headers } = await server.mint({ tenant, principal: 'ada', scopes })
  return { headers, acp: await openAcp(headers) }
}

beforeAll(async () => {
  server = await openKeyedServer()
  serving = server.serving
  acme = await party('acme')
  evil = await party('evil')
})
afterAll(async () => {
  acme.acp.close()
  evil.acp.close()
  await server.close()
})

const missing = '01a1e283-0000-7000-8000-000000000000'

describe('over ACP', () => {
  it.each([
    ['session/load', { cwd: '/', mcpServers: [] }],
    ['session/resume', { cwd: '/', mcpServers: [] }],
    ['session/close', {}],
    ['session/prompt', { prompt: [{ type: 'text', text: 'hello' }] }],
    ['session/set_mode', { modeId: 'x' }],
    ['_session/suspend', {}],
    ['_session/resume', {}],
    ['_session/inject_reminder', { reminder: { body: 'x' } }],
    ['_session/list_reminders', {}],
    ['_session/receipts', {}],
  ])('%s answers as if the session did not exist', async (method, params) => {
    const made = await acme.acp.ask('session/new', { cwd: '/', mcpServers: [] })
    const { sessionId } = (JSON.parse(made) as { result: { sessionId: string } }).result
    const there = await evil.acp.ask(method, { ...params, sessionId })
    const nowhere = await evil.acp.ask(method, { ...params, sessionId: missing })
    expect(there.replaceAll(sessionId, 'ID')).toBe(nowhere.replaceAll(missing, 'ID'))
    expect(there).toContain('error')
  })

  it('lists nothing of the other', async () => {
    const made = await acme.acp.ask('session/new', { cwd: '/', mcpServers: [] })
    const { sessionId } = (JSON.parse(made) as { result: { sessionId: string } }).result
    expect(await acme.acp.ask('session/list', {})).toContain(sessionId)
    expect(await evil.acp.ask('session/list', {})).not.toContain(sessionId)
  })
})

describe('over HTTP', () => {
  async function post(who: Party, path: string, body: object, type = 'application/json') {
    const headers = { ...who.headers, 'content-type': type, 'a2a-version': '1.0' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(serving.url + path, init)
    return { status: response.status, text: await response.text() }
  }

  it('the same event of both is new to each, and a duplicate to its own tenant alone', async () => {
    const event = { specversion: '1.0', id: 'same', source: 'ci', type: 'tenants.test' }
    const emit = (who: Party) => post(who, '/events', event, 'application/cloudevents+json')
    const first = await emit(acme)
    expect(await emit(evil)).toEqual(first)
    expect((await emit(evil)).text).toContain('"duplicates":1')
  })

  it('the same message, key and context of both make two tasks', async () => {
    const key = '01a1e283-1111-7000-8000-000000000000'
    const message = { messageId: key, role: 'ROLE_USER', contextId: key, parts: [{ text: 'hi' }] }
    const send = async (who: Party) => {
      const params = { message, configuration: { returnImmediately: true } }
      const { text } = await post(who, '/', {
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params,
      })
      return (JSON.parse(text) as { result: { task: { id: string } } }).result.task.id
    }
    const [ours, theirs] = [await send(acme), await send(evil)]
    expect(theirs).not.toBe(ours)
    expect(await send(acme)).toBe(ours)
  })

  it('a hold of one tenant stops nothing of the other, and cannot be lifted by it', async () => {
    const placed = await post(acme, '/ops/holds', { scope: { tenant: 'acme' }, reason: 'x' })
    const { holdId } = JSON.parse(placed.text) as { holdId: string }
    const lift = async (who: Party, id: string) => {
      const init = { method: 'DELETE', headers: who.headers }
      const response = await fetch(`${serving.url}/ops/holds/${id}`, init)
      return `${response.status} ${(await response.text()).replaceAll(id, 'ID')}`
    }
    expect(await lift(evil, holdId)).toBe(await lift(evil, 'no-such-hold'))
    const seen = await fetch(`${serving.url}/ops/holds`, { headers: evil.headers })
    expect(await seen.text()).toBe('{"holds":[]}')
    const foreign = await post(evil, '/ops/holds', { scope: { tenant: 'acme' }, reason: 'x' })
    const none = await post(evil, '/ops/holds', { scope: { tenant: 'nobody' }, reason: 'x' })
    expect(foreign.text.replaceAll('acme', 'T')).toBe(none.text.replaceAll('nobody', 'T'))
    expect(foreign.status).toBeGreaterThanOrEqual(400)
    expect(await lift(acme, holdId)).toContain('200')
  })
})
