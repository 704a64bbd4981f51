/** The audit log of a server: what was refused at its door, keys, and who may read it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createClient } from '../../client/client.ts'
import { createOps } from '../../client/ops-client.ts'
import { type Scope, scopes } from '../../core/scopes.ts'
import type { RunningServer } from '../serve.ts'
import { type KeyedServer, openKeyedServer } from '../test-support/keyed-server.ts'

let serving: RunningServer
let server: KeyedServer

beforeAll(async () => {
  server = await openKeyedServer()
  serving = server.serving
})
afterAll(async () => {
  await server.close()
})

const mint = (tenant: string, principal: string, has: readonly Scope[] = scopes) =>
  server.mint({ tenant, principal, scopes: has })

const root = () => mint('*', 'root', ['ops:read', 'ops:control'])

async function entriesFor(headers: Readonly<Record<string, string>>) {
  const { entries } = await createOps({ url: serving.url, headers }).audit({ limit: 1_000 })
  return entries.map(({ at: _at, ...rest }) => rest)
}

it('has who tried without a credential, without its query and its secret', async () => {
  const secret = 'x'.repeat(43)
  const unknown = { authorization: `Bearer lull_0123456789abcdef_${secret}` }
  await fetch(`${serving.url}/ops/tasks?token=canary`, { headers: unknown })
  const socket = new WebSocket(`${serving.url.replace('http', 'ws')}/acp?token=canary`)
  await new Promise((resolve) => socket.on('error', resolve))
  const entries = await entriesFor((await root()).headers)
  const stranger = { tenant: '*', action: 'request', outcome: 'UNAUTHENTICATED', from: '127.0.0.1' }
  expect(entries).toContainEqual({
    ...stranger,
    target: 'GET /ops/tasks',
    credential: '0123456789abcdef',
  })
  expect(entries).toContainEqual({ ...stranger, target: 'GET /acp' })
  expect(JSON.stringify(entries)).not.toMatch(new RegExp(`canary|${secret}`))
})

it('has who lacked a scope, at every door', async () => {
  const weak = await mint('acme', 'weak', ['tasks:read'])
  const post = { method: 'POST', headers: { ...weak.headers, 'content-type': 'application/json' } }
  const rpc = { jsonrpc: '2.0', id: 1, method: 'CancelTask', params: { id: 'x' } }
  const v1 = { ...post, headers: { ...post.headers, 'a2a-version': '1.0' } }
  await fetch(serving.url, { ...v1, body: JSON.stringify(rpc) })
  await fetch(`${serving.url}/tasks/x:cancel`, { ...v1, body: '{}' })
  await fetch(`${serving.url}/events`, { ...post, body: '{}' })
  await fetch(`${serving.url}/ops/holds`, { ...post, body: '{}' })
  const operator = await mint('acme', 'operator', ['ops:read'])
  const own = (await entriesFor(operator.headers)).filter(({ principal }) => principal === 'weak')
  const of = { tenant: 'acme', principal: 'weak', credential: weak.id, outcome: 'FORBIDDEN' }
  expect(own).toEqual(
    ['POST /', 'POST /tasks/x:cancel', 'POST /events', 'POST /ops/holds'].map((target) => ({
      ...of,
      action: 'request',
      target,
    })),
  )
})

it('shows an operator the entries of its tenant alone', async () => {
  const ada = await mint('north', 'ada')
  const client = createClient({ url: serving.url, headers: ada.headers })
  const sent = await client.send([{ data: { script: [{ ask: 'ok?' }] } }])
  if (sent.kind !== 'task') throw new Error('a task was expected')
  await client.cancel(sent.task.id)
  const entries = await entriesFor((await mint('north', 'op', ['ops:read'])).headers)
  expect(entries).toContainEqual({
    tenant: 'north',
    principal: 'ada',
    credential: ada.id,
    action: 'task.cancel',
    taskId: sent.task.id,
    outcome: 'done',
  })
  expect(new Set(entries.map(({ tenant }) => tenant))).toEqual(new Set(['north']))
  const south = await entriesFor((await mint('south', 'op', ['ops:read'])).headers)
  expect(south.filter(({ tenant }) => tenant !== 'south')).toEqual([])
})

it('has keys that were made and revoked without the server, each once', async () => {
  const { id } = await mint('acme', 'late')
  await server.keys.revoke(id, Date.now())
  const { headers } = await root()
  await entriesFor(headers)
  const entries = (await entriesFor(headers)).filter(({ target }) => target === id)
  const of = { tenant: 'acme', principal: 'owner', operator: true, target: id, outcome: 'done' }
  expect(entries).toEqual([
    { ...of, action: 'key.mint' },
    { ...of, action: 'key.revoke' },
  ])
})

it('is read page by page, and by principal, task and time', async () => {
  const { headers } = await root()
  const ops = createOps({ url: serving.url, headers })
  const first = await ops.audit({ limit: 1 })
  const second = await ops.audit({ limit: 1, cursor: first.cursor })
  expect([first.entries.length, second.entries.length]).toEqual([1, 1])
  expect(second.entries).not.toEqual(first.entries)
  const late = await ops.audit({ since: new Date(Date.now() + 60_000).toISOString() })
  expect(late.entries).toEqual([])
  const weak = await ops.audit({ principal: 'weak' })
  expect(new Set(weak.entries.map(({ principal }) => principal))).toEqual(new Set(['weak']))
})
