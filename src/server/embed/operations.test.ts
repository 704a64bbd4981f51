import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { Caller } from '../../engine/caller.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { openEngine } from '../open-engine.ts'
import { waiter } from '../test-support/open-app.ts'
import { type Embedded, type EmbedOptions, embed, embedEngine } from './embed.ts'

const url = 'http://127.0.0.1/lull'
const secret = () => ({
  receiptKey: randomBytes(32).toString('base64'),
  log: () => undefined,
  store: createMemoryStore(),
})

function embedded(some: Partial<EmbedOptions> = {}): Embedded {
  const lull = embed({ agents: [waiter], url, ops: true, ...secret(), ...some })
  onTestFinished(() => lull.close())
  return lull
}

const people: Readonly<Record<string, Caller>> = {
  ann: { tenant: 'acme', principal: 'ann' },
  olga: { tenant: 'acme', principal: 'olga', operator: true },
  eve: { tenant: 'beta', principal: 'eve', operator: true },
  root: { tenant: 'acme', principal: 'root', operator: true, ofAllTenants: true },
}

/** The login of the app: the name in a header stands for its session. */
const caller = (request: Request) => people[request.headers.get('x-session') ?? '']

const get = (lull: Embedded, path: string, session?: string) =>
  lull.fetch(
    new Request(
      `${url}${path}`,
      session === undefined ? {} : { headers: { 'x-session': session } },
    ),
  )

async function parked(lull: Embedded, by: Caller): Promise<string> {
  const engine = await lull.engine
  const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'go' }] }
  const sent = await engine.send(by, { message })
  if (sent.kind !== 'task') throw new Error('not a task')
  await engine.waitFor(by, sent.task.id, (task) => task.state === 'paused-by-agent')
  return sent.task.id
}

it('O1: shows an operator of the app the tasks of its tenant, and nobody else', async () => {
  const lull = embedded({ caller })
  const id = await parked(lull, people['ann'] as Caller)
  const idsFor = async (session: string, query = ''): Promise<unknown> => {
    const answer = (await (await get(lull, `/ops/tasks${query}`, session)).json()) as {
      tasks: { taskId: string }[]
    }
    return answer.tasks.map(({ taskId }) => taskId)
  }
  expect(await idsFor('olga')).toEqual([id])
  expect(await idsFor('eve')).toEqual([])
  expect(await idsFor('root', '?tenant=*')).toEqual([id])
  expect((await get(lull, '/ops/tasks?tenant=*', 'olga')).status).toBe(400)
  expect((await get(lull, '/ops/tasks')).status).toBe(401)
  expect((await get(lull, '/ops/holds', 'ann')).status).toBe(403)
  expect((await get(lull, '/metrics', 'ann')).status).toBe(403)
  expect((await get(lull, '/metrics', 'olga')).status).toBe(200)
})

it('O1: lets an operator hold, and refuses the pages of other origins', async () => {
  const lull = embedded({ caller })
  await parked(lull, people['ann'] as Caller)
  const body = JSON.stringify({ scope: { all: true }, reason: 'incident' })
  const hold = (headers: Record<string, string>) =>
    lull.fetch(new Request(`${url}/ops/holds`, { method: 'POST', body, headers }))
  expect((await hold({ 'x-session': 'ann' })).status).toBe(403)
  const forged = { 'x-session': 'olga', origin: 'https://evil.example' }
  expect((await hold(forged)).status).toBe(403)
  const held = await hold({ 'x-session': 'olga' })
  expect(await held.json()).toMatchObject({ outcomes: [{ outcome: 'held' }] })
})

it('streams changes', async () => {
  const response = await get(embedded({ caller }), '/ops/changes', 'olga')
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const reader = response.body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  await reader?.cancel()
})

it('says who calls, without a caller too, and is healthy for everybody', async () => {
  const lull = embedded({ caller })
  const session = async (name?: string) => (await get(lull, '/auth/session', name)).json()
  expect(await session()).toEqual({ signIn: false })
  expect(await session('olga')).toEqual({ signIn: false, tenant: 'acme', principal: 'olga' })
  expect(await session('root')).toEqual({ signIn: false })
  expect((await get(lull, '/healthz')).status).toBe(200)
  expect((await get(lull, '/readyz')).status).toBe(200)
  // The page has no data, and is built with the package.
  expect((await get(lull, '/dashboard/tasks')).status).not.toBe(401)
})

it('O2: makes nobody an operator whom only `insecure` lets in', async () => {
  const lull = embedded({ insecure: true })
  expect((await get(lull, '/ops/tasks')).status).toBe(200)
  expect((await get(lull, '/ops/holds')).status).toBe(403)
})

it('O2: lets a program of this machine operate, where the app names no callers', async () => {
  const server = createServer(embedded().handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}/lull`
  expect((await fetch(`${here}/ops/holds?tenant=*`)).status).toBe(200)
})

it('is not there unless it was asked for', async () => {
  const lull = embedded({ caller, ops: undefined })
  expect((await get(lull, '/ops/tasks', 'olga')).status).toBe(404)
  expect((await get(lull, '/dashboard/', 'olga')).status).toBe(404)
})

it('serves an engine of openEngine, and leaves it open', async () => {
  const open = await openEngine({ agents: [waiter], ...secret() })
  const lull = embedEngine(open, { url, caller, ops: true })
  expect(await lull.engine).toBe(open.engine)
  await parked(lull, people['ann'] as Caller)
  expect((await get(lull, '/ops/tasks', 'olga')).status).toBe(200)
  expect((await get(lull, '/.well-known/agent-card.json')).status).toBe(200)
  await lull.close()
  expect((await open.engine.health()).ready).toBe(true)
  await open.close()
})
