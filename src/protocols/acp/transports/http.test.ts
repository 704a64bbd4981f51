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

it('is refused when there are too many', async () => {
  const harness = await openHarness()
  for (let n = 0; n < 999; n++) expect(harness.acp.upgrade({ caller: anyone })).toBeDefined()
  const last = harness.acp.upgrade({ caller: anyone })
  expect(harness.acp.upgrade({ caller: anyone })).toBeUndefined()
  const message = { id: 0, method: 'initialize', params: { protocolVersion: 1 } }
  expect((await post(harness, message)).status).toBe(503)
  last?.reject()
  expect((await post(harness, message)).status).toBe(200)
})

it('is refused once it is closed', async () => {
  const harness = await openHarness()
  await harness.acp.close()
  expect(harness.acp.upgrade({ caller: anyone })).toBeUndefined()
  const message = { id: 0, method: 'initialize', params: { protocolVersion: 1 } }
  expect((await post(harness, message)).status).toBe(503)
})
