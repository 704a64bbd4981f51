import { expect, it } from 'vitest'
import { bob } from '../../../engine/test-support/world.ts'
import { anyone, openStudio, type Studio } from '../test-support/studio.ts'

const url = 'http://lull.test/acp'
const json = { 'content-type': 'application/json' }

function post(studio: Studio, message: object, headers = {}, caller = anyone): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message })
  const request = new Request(url, { method: 'POST', headers: { ...json, ...headers }, body })
  return studio.acp.fetch(request, { caller })
}

async function initialize(studio: Studio): Promise<Record<string, string>> {
  const message = { id: 0, method: 'initialize', params: { protocolVersion: 1 } }
  const response = await post(studio, message)
  expect(await response.json()).toMatchObject({ result: { protocolVersion: 1 } })
  return { 'acp-connection-id': response.headers.get('acp-connection-id') ?? '' }
}

const list = { id: 1, method: 'session/list', params: {} }

function listen(studio: Studio, headers: Record<string, string>): Promise<Response> {
  const accept = { accept: 'text/event-stream' }
  return studio.acp.fetch(new Request(url, { headers: { ...headers, ...accept } }), {
    caller: anyone,
  })
}

it('belongs to the caller who opened it', async () => {
  const studio = await openStudio()
  const id = await initialize(studio)
  expect((await post(studio, list, id)).status).toBe(202)
  expect((await post(studio, list, id, bob)).status).toBe(404)
  expect((await post(studio, list, { 'acp-connection-id': 'x' })).status).toBe(404)
})

it('is closed when nobody listens or speaks for a while, and not before', async () => {
  const studio = await openStudio()
  const id = await initialize(studio)
  studio.clock.advance(299_999)
  expect((await post(studio, list, id)).status).toBe(202)
  studio.clock.advance(299_999)
  const stream = await listen(studio, id)
  expect(stream.status).toBe(200)
  studio.clock.advance(3_600_000)
  expect((await post(studio, list, id)).status).toBe(202)
  await stream.body?.cancel()
  studio.clock.advance(300_000)
  expect((await post(studio, list, id)).status).toBe(404)
})

it('ends with a DELETE', async () => {
  const studio = await openStudio()
  const headers = await initialize(studio)
  const request = new Request(url, { method: 'DELETE', headers })
  expect((await studio.acp.fetch(request, { caller: anyone })).status).toBe(202)
  expect((await post(studio, list, headers)).status).toBe(404)
})

it('is refused when there are too many', async () => {
  const studio = await openStudio()
  for (let n = 0; n < 999; n++) expect(studio.acp.upgrade({ caller: anyone })).toBeDefined()
  const last = studio.acp.upgrade({ caller: anyone })
  expect(studio.acp.upgrade({ caller: anyone })).toBeUndefined()
  const message = { id: 0, method: 'initialize', params: { protocolVersion: 1 } }
  expect((await post(studio, message)).status).toBe(503)
  last?.reject()
  expect((await post(studio, message)).status).toBe(200)
})

it('is refused once it is closed', async () => {
  const studio = await openStudio()
  await studio.acp.close()
  expect(studio.acp.upgrade({ caller: anyone })).toBeUndefined()
  const message = { id: 0, method: 'initialize', params: { protocolVersion: 1 } }
  expect((await post(studio, message)).status).toBe(503)
})
