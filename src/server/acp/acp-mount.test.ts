import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { IncomingMessage, request } from 'node:http'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { scriptAgent } from '../../testing/script-agent/script-agent.ts'
import { callerOf, owner } from '../auth/identity.ts'
import { type OpenEngine, openEngine } from '../open-engine.ts'
import { type AcpMount, mountAcp } from './acp-mount.ts'
import { listenLocally } from './local-socket.ts'

const log = (): void => undefined

let data: string
let open: OpenEngine
let acp: AcpMount
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-mount-'))
  open = await openEngine({ agents: [scriptAgent], data, log })
  acp = mountAcp(open, log)
})
afterEach(async () => {
  await acp.close()
  await open.close()
  rmSync(data, { recursive: true })
})

it('takes nobody once it is closed, the first one neither', async () => {
  await acp.close()
  const method = 'initialize'
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { protocolVersion: 1 } })
  const headers = { 'content-type': 'application/json' }
  const asked = new Request('http://lull.test/acp', { method: 'POST', headers, body })
  expect((await acp.fetch(asked, owner)).status).toBe(503)

  const local = await listenLocally(data, acp)
  const status = await new Promise((resolve, reject) => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' }
    request({ socketPath: join(data, 'lull.sock'), path: '/acp', headers: upgrade })
      .on('response', (response) => resolve(response.statusCode))
      .on('upgrade', () => resolve(101))
      .on('error', reject)
      .end()
  })
  local?.close()
  expect(status).toBe(503)
})

it('is loaded for the next editor when it could not be loaded for the first', async () => {
  let failures = 1
  const engine = new Proxy(open.engine, {
    get(target, name) {
      if (name === 'agents' && failures-- > 0) throw new Error('not yet')
      return Reflect.get(target, name) as unknown
    },
  })
  const said: string[] = []
  const flaky = mountAcp({ ...open, engine }, (_level, text) => {
    said.push(text)
  })
  await expect(flaky.load()).rejects.toThrow('not yet')
  expect(said).toEqual(['ACP could not be loaded'])
  await expect(flaky.load()).resolves.toBeDefined()
  await flaky.close()
})

it('lets only its owner to its socket', async () => {
  const local = await listenLocally(data, acp)
  expect(statSync(join(data, 'lull.sock')).mode & 0o777).toBe(0o600)
  local?.close()
})

it('counts no WebSocket of a client that disconnects while ACP is loaded', async () => {
  const small = mountAcp(open, log, { connections: 1 })
  const closed = new Socket().destroy()
  await once(closed, 'close')
  for (let n = 0; n < 8; n++) {
    small.upgrade(new IncomingMessage(closed), closed, Buffer.alloc(0), owner)
  }
  const { upgrade } = await small.load()
  await import('./acp-sockets.ts')
  // Every upgrade waited for the same modules, and has gone on in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  expect(upgrade({ caller: callerOf(owner) })).toBeDefined()
  await small.close()
})
