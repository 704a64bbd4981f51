/** K1: http.ts. */
import { expect, it } from 'vitest'
import { bob } from '../../../engine/test-support/engine-harness.ts'
import { anyone, type Harness, openHarness } from '../test-support/harness.ts'

const url = 'http://lull.test/acp'
const json = { 'content-type': 'application/json' }

function post(harness: Harness, message: object, headers = {}, caller = anyone): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message })
  const request = new Request(url, { method: 'POST', headers: { ...json, ...headers }, body })
  return harness.acp.fetch(request, { caller })
}

async function initialize(harness: Harness): Promise<Record<string, string>> {
  const message = { id: 0, method: 'initialize', params: { protocolVersion: 1 } }
  const response = await post(harness, message)
  expect(await response.json()).toMatchObject({ result: { protocolVersion: 1 } })
  return { 'acp-connection-id': response.headers.get('acp-connection-id') ?? '' }
}

const list = { id: 1, method: 'session/list', params: {} }

function listen(harness: Harness, headers: Record<string, string>): Promise<Response> {
  const accept = { accept: 'text/event-stream' }
  return harness.acp.fetch(new Request(url, { headers: { ...headers, ...accept } }), {
    caller: anyone,
  })
}

it('belongs to the caller who opened it', async () => {
  const harness = await openHarness()
  const id = await initialize(harness)
  expect((await post(harness, list, id)).status).toBe(202)
  expect((await post(harness, list, id, bob)).status).toBe(404)
  expect((await post(harness, list, { 'acp-connection-id': 'x' })).status).toBe(404)
})

it('is closed after a time without a reader or a request, and not before', async () => {
  const harness = await openHarness()
  const id = await initialize(harness)
  harness.clock.advance(299_999)
  expect((await post(harness, list, id)).status).toBe(202)
  harness.clock.advance(299_999)
  const stream = await listen(harness, id)
  expect(stream.status).toBe(200)
  harness.clock.advance(3_600_000)
  expect((await post(harness, list, id)).status).toBe(202)
  await stream.body?.cancel()
  harness.clock.advance(300_000)
  expect((await post(harness, list, id)).status).toBe(404)
})

it('ends with a DELETE', async () => {
  const harness = await openHarness()
  const headers = await initialize(harness)
  const request = new Request(url, { method: 'DELETE', headers })
  expect((await harness.acp.fetch(request, { caller: anyone })).status).toBe(202)
  expect((await post(harness, list, headers)).status).toBe(404)
})

it('K1: is refused when its principal has too many, and others can still connect', async () => {
  const harness = await openHarness()
  const open = (tenant: string, principal: string) =>
    harness.acp.upgrade({ caller: { tenant, principal } })
  for (let n = 0; n < 255; n++) expect(harness.acp.upgrade({ caller: anyone })).toBeDefined()
  const last = harness.acp.upgrade({ caller: anyone })
  expect(harness.acp.upgrade({ caller: anyone })).toBeUndefined()
  const message = { id: 0, method: 'initialize', params: { protocolVersion: 1 } }
  const refused = await post(harness, message)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  expect(await refused.text()).toBe('The limit acp.connections of the principal (256) is reached')
  last?.reject()
  last?.reject()
  expect((await post(harness, message)).status).toBe(200)
  expect(harness.acp.upgrade({ caller: anyone })).toBeUndefined()

  // The tenant has twice as many, and all tenants together four times as many.
  for (let n = 0; n < 256; n++) expect(open(anyone.tenant, 'bob')).toBeDefined()
  expect(open(anyone.tenant, 'carol')).toBeUndefined()
  for (let n = 0; n < 512; n++) expect(open('other', n < 256 ? 'a' : 'b')).toBeDefined()
  expect(open('third', 'a')).toBeUndefined()
})

it('is answered at once when a message has very many values', async () => {
  const harness = await openHarness()
  const params = { protocolVersion: 1, _meta: { values: Array(100_001).fill(1) } }
  expect((await post(harness, { id: 0, method: 'initialize', params })).status).toBe(413)
  const listeners = new Map<string, (...args: unknown[]) => void>()
  const closed: unknown[] = []
  harness.acp.upgrade({ caller: anyone })?.accept({
    send: () => undefined,
    close: (code) => closed.push(code),
    on: (type, listener) => listeners.set(type, listener),
  })
  const text = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  listeners.get('message')?.(Buffer.from(text), false)
  await expect.poll(() => closed).toEqual([1009])
})

it('is refused once it is closed', async () => {
  const harness = await openHarness()
  await harness.acp.close()
  expect(harness.acp.upgrade({ caller: anyone })).toBeUndefined()
  const message = { id: 0, method: 'initialize', params: { protocolVersion: 1 } }
  expect((await post(harness, message)).status).toBe(503)
})
