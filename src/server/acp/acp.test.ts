/** ACP over real sockets, spoken to with the official client. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as sdk from '@agentclientprotocol/sdk'
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { scriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, serve } from '../serve.ts'

let data: string
let serving: RunningServer
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-acp-'))
  serving = await serve({ agents: [scriptAgent], port: 0, data, log: () => undefined, quiet: true })
})
afterEach(async () => {
  await serving.close()
  rmSync(data, { recursive: true })
})

const webSocket = () =>
  createWebSocketStream(`${serving.url.replace('http', 'ws')}/acp`, {
    WebSocket: WebSocket as never,
  })
const http = () => createHttpStream(`${serving.url}/acp`)

interface Told {
  readonly words: string[]
  readonly notes: string[]
}

function client(told: Told): sdk.ClientApp {
  return sdk
    .client()
    .onNotification('session/update', ({ params: { update } }) => {
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') {
        told.words.push(update.content.text)
      }
    })
    .onNotification(
      '_session/turn_ended',
      (params) => params,
      ({ method }) => {
        told.notes.push(method)
      },
    )
}

/** A client that wants to be told what is ours. */
const aware = { protocolVersion: 1, clientCapabilities: { _meta: { lull: {} } } }

const script = (...ops: unknown[]): { type: 'text'; text: string }[] => [
  { type: 'text', text: JSON.stringify({ script: ops }) },
]

describe.each([
  ['WebSocket', webSocket],
  ['HTTP', http],
])('over %s', (_, stream) => {
  it('prompts, suspends, goes away, comes back and cancels', async () => {
    const told: Told = { words: [], notes: [] }
    const first = client(told).connect(stream())
    await first.agent.request('initialize', aware)
    const { sessionId } = await first.agent.request('session/new', { cwd: '/', mcpServers: [] })
    const ops = [{ say: 'one' }, { step: 'long', ms: 60_000 }, { say: 'two' }]
    const turn = first.agent.request('session/prompt', { sessionId, prompt: script(...ops) })
    await expect.poll(() => told.words).toEqual(['one'])
    const mode = 'interrupt_immediate'
    const { handle } = await first.agent.request<{ handle: string }>('_session/suspend', {
      sessionId,
      mode,
    })
    expect(await turn).toMatchObject({ stopReason: 'end_turn' })
    first.close()
    await first.closed

    const second = client(told).connect(stream())
    await second.agent.request('initialize', aware)
    const { _meta } = await second.agent.request('session/resume', {
      sessionId,
      cwd: '/',
      mcpServers: [],
    })
    expect(_meta).toMatchObject({ lull: { suspend: { state: 'suspended', handle } } })
    await second.agent.notify('session/cancel', { sessionId })
    await expect.poll(() => told.notes).toEqual(['_session/turn_ended'])
    second.close()
  })
})

describe('the address', () => {
  it('of a web page of another origin is refused', async () => {
    const socket = new WebSocket(`${serving.url.replace('http', 'ws')}/acp`, {
      origin: 'http://evil.example',
    })
    const refused = await new Promise<string>((resolve) => {
      socket.on('error', (error) => resolve(error.message))
      socket.on('open', () => resolve('open'))
    })
    expect(refused).toContain('403')
  })

  it('knows no connection of somebody else, and says which methods it has', async () => {
    const headers = { 'content-type': 'application/json', 'acp-connection-id': 'guessed' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session/list', params: {} })
    const url = `${serving.url}/acp`
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(404)
    const put = await fetch(url, { method: 'PUT' })
    expect(put.status).toBe(405)
    expect(put.headers.get('allow')).toBe('GET, POST, DELETE')
  })
})

it('serves a request that asks for another protocol as if it had not, body and all', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'GetTask', params: { id: 'x' } })
  const half = body.length / 2
  const lines = [
    'POST / HTTP/1.1',
    'Host: 127.0.0.1',
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQAAP__',
    'Content-Type: application/json',
    'A2A-Version: 1.0',
    `Content-Length: ${body.length}`,
  ]
  const socket = connect(serving.port, '127.0.0.1')
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body.slice(0, half)}`)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += String(chunk)
  })
  setImmediate(() => socket.write(body.slice(half)))
  await expect.poll(() => answer).toContain('"id":7')
  expect(answer).toMatch(/^HTTP\/1\.1 200/)
  // The connection goes on.
  answer = ''
  socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  await expect.poll(() => answer).toMatch(/^HTTP\/1\.1 200/)
  socket.destroy()
})

it('closes although a request that asked for another protocol never comes to its end', async () => {
  const socket = connect(serving.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += String(chunk)
  })
  const left = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.on('error', () => undefined)
  const lines = ['Host: 127.0.0.1', 'Connection: Upgrade', 'Upgrade: h2c', 'Expect: 100-continue']
  const body = ['Content-Type: application/json', 'Content-Length: 100']
  socket.write(`POST / HTTP/1.1\r\n${[...lines, ...body].join('\r\n')}\r\n\r\n{`)
  await expect.poll(() => answer).toContain('100 Continue')
  await serving.close()
  await left
})
