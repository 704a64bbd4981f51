/** Every route of `/ops`, over the application. */
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { LullError } from '../../core/errors.ts'
import type { Scope } from '../../core/scopes.ts'
import type { Engine } from '../../engine/engine.ts'
import { opsRoutes } from '../../protocols/ops/routes.ts'
import { keyIn } from '../../testing/key-in.ts'
import { callerOf, owner } from '../auth/identity.ts'
import { refusalOf } from '../http/refusals.ts'
import { openApp } from '../test-support/open-app.ts'
import { addOpsRoutes } from './ops-routes.ts'

const anybody = callerOf(owner)

type App = Awaited<ReturnType<typeof openApp>>['app']

/** A task that is parked on the event. */
async function parked(engine: Engine, name: string, tenant = anybody.tenant): Promise<string> {
  const message = { messageId: name, role: 'ROLE_USER' as const, parts: [{ text: name }] }
  const sent = await engine.send({ ...anybody, tenant }, { message })
  if (sent.kind !== 'task') throw new Error('a task was expected')
  const task = await engine.waitFor({ ...anybody, tenant }, sent.task.id, ({ state }) =>
    state.startsWith('paused'),
  )
  return task.id
}

async function ask(app: App, path: string, method = 'GET', body?: unknown) {
  const response = await app.request(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const answer = (await response.json()) as Record<string, unknown>
  const route = opsRoutes.find(
    (one) =>
      one.method === method &&
      new RegExp(`^${one.path.replace('{id}', '[^/]+')}$`).test(path.replace(/\?.*/, '')),
  )
  // The OpenAPI document is made from the same schema.
  if (response.ok) expect(route?.answer.safeParse(answer).error).toBeUndefined()
  return { status: response.status, answer }
}

it('lists tasks with counts per state, and says what each waits for', async () => {
  const { app, engine } = await openApp()
  const [first] = [await parked(engine, 'a'), await parked(engine, 'b')]
  await engine.cancel(anybody, { taskId: first })
  const { answer } = await ask(app, '/ops/tasks?state=paused-by-agent&limit=1')
  expect(answer).toMatchObject({
    total: 1,
    counts: { 'paused-by-agent': 1, canceled: 1 },
    tasks: [{ title: 'b', state: 'paused-by-agent', stop: { wakes: 'on b' } }],
  })
  expect((await ask(app, `/ops/tasks/${first}`)).answer).toMatchObject({ state: 'canceled' })
  expect((await ask(app, '/ops/tasks/nobody')).status).toBe(404)
})

it('searches tasks for words and parts of ids, together with the other filters', async () => {
  const { app, engine } = await openApp()
  const [first, second] = [await parked(engine, 'tea time'), await parked(engine, 'tea party')]
  await engine.cancel(anybody, { taskId: first })
  const found = async (query: string) => {
    const { answer } = await ask(app, `/ops/tasks?${query}`)
    return (answer['tasks'] as { taskId: string }[]).map(({ taskId }) => taskId)
  }
  expect(await found('q=TEA')).toHaveLength(2)
  expect(await found('q=tea%20party')).toEqual([second])
  expect(await found('q=tea&state=canceled')).toEqual([first])
  expect(await found(`q=${second.slice(-8)}`)).toEqual([second])
  expect(await found('q=coffee')).toEqual([])
})

it.each([
  [`/ops/tasks?q=${'x'.repeat(201)}`, 'q'],
  ['/ops/tasks?state=asleep', 'state'],
  ['/ops/tasks?limit=many', 'limit'],
  ['/ops/tasks?held=perhaps', 'held'],
  ['/ops/tasks?colour=red', 'colour'],
  ['/ops/tasks?agent=a&agent=b', 'agent'],
])('refuses %s and names %s', async (path, named) => {
  const { app } = await openApp()
  const { status, answer } = await ask(app, path)
  expect([status, (answer['error'] as { path: string }).path]).toEqual([400, named])
})

it('lists holds with the number and the first ids of their tasks, and shows one with all ids', async () => {
  const { app } = await openApp()
  const taskIds = Array.from({ length: 5_000 }, (_, n) => `task-${n}`)
  const request = { scope: { taskIds }, reason: 'incident' }
  const { answer } = await ask(app, '/ops/holds', 'POST', request)
  const { holdId } = answer as { holdId: string }
  const first = taskIds.slice(0, 10)
  const list = await ask(app, '/ops/holds')
  expect(list.answer).toMatchObject({
    holds: [{ holdId, tasks: 5_000, scope: { taskIds: first } }],
  })
  const one = await ask(app, `/ops/holds/${holdId}`)
  expect(one.answer).toMatchObject({ holdId, tasks: 5_000, scope: { taskIds } })
  expect((await ask(app, '/ops/holds/hold-of-nobody')).status).toBe(404)
})

it('previews, places, lists and lifts a hold', async () => {
  const { app, engine } = await openApp()
  const taskId = await parked(engine, 'a')
  const request = { scope: { all: true }, reason: 'incident' }
  const preview = await ask(app, '/ops/holds:preview', 'POST', { scope: { all: true } })
  expect(preview.answer).toEqual({
    tasks: 1,
    states: { 'paused-by-agent': 1 },
    alreadyHeld: 0,
    sample: [taskId],
  })
  const placed = await ask(app, '/ops/holds', 'POST', request)
  expect(placed.answer).toMatchObject({ outcomes: [{ taskId, outcome: 'held' }] })
  const { holdId } = placed.answer as { holdId: string }
  expect((await ask(app, '/ops/holds')).answer).toMatchObject({
    holds: [{ holdId, reason: 'incident' }],
  })
  expect((await ask(app, `/ops/tasks/${taskId}`)).answer).toMatchObject({
    held: true,
    says: expect.stringContaining('Held by an operator'),
  })
  expect((await ask(app, `/ops/holds/${holdId}`, 'DELETE')).answer).toEqual({ holdId, tasks: 1 })
  expect((await ask(app, `/ops/holds/${holdId}`, 'DELETE')).status).toBe(404)
})

it('refuses a hold without a body, with a broken one, and of no scope', async () => {
  const { app } = await openApp()
  expect((await ask(app, '/ops/holds', 'POST', 'text')).status).toBe(400)
  expect((await ask(app, '/ops/holds', 'POST', { scope: {}, reason: 'x' })).status).toBe(400)
  const broken = await app.request('/ops/holds', { method: 'POST', body: '{' })
  expect(broken.status).toBe(400)
})

it('lets the owner change in a tenant what the owner has set for it with `?tenant=*`', async () => {
  const { app } = await openApp()
  const scope = { tenant: anybody.tenant }
  const set = async (path: string, body: object): Promise<Record<string, unknown>> =>
    (await ask(app, `${path}?tenant=*`, 'POST', { scope, ...body })).answer
  const { holdId } = await set('/ops/holds', { reason: 'incident' })
  const { budget } = await set('/ops/budgets', { measure: 'tokens', limit: 10 })
  const { budgetId } = budget as { budgetId: string }
  const { ruleId } = await set('/ops/rules', { onEvent: 'incident', reason: 'incident' })
  const paths = [`/ops/holds/${holdId}`, `/ops/budgets/${budgetId}`, `/ops/rules/${ruleId}`]
  for (const path of paths) {
    expect([path, (await ask(app, path, 'DELETE')).status]).toEqual([path, 200])
  }
})

it('holds of one tenant leave other tenants alone, and `*` means all', async () => {
  const { app, engine } = await openApp()
  const [ours, theirs] = [await parked(engine, 'a'), await parked(engine, 'b', 'acme')]
  const request = { scope: { all: true }, reason: 'x' }
  const one = await ask(app, '/ops/holds:preview', 'POST', request)
  expect(one.answer).toMatchObject({ sample: [ours] })
  const all = await ask(app, '/ops/holds:preview?tenant=*', 'POST', request)
  expect(all.answer['sample']).toEqual(expect.arrayContaining([ours, theirs]))
})

it('shows receipts and that they are genuine', async () => {
  const { app, engine } = await openApp()
  const taskId = await parked(engine, 'a')
  const { answer } = await ask(app, `/ops/tasks/${taskId}/receipts`)
  const [receipt] = answer['receipts'] as readonly Record<string, unknown>[]
  expect(answer).toMatchObject({ taskId, verified: true, faults: [] })
  expect(receipt).toMatchObject({
    kind: 'SuspensionReceipt',
    number: 1,
    verdict: 'genuine',
    verifiedBy: ['hmac-sha256', 'ed25519'],
  })
})

it('shows webhooks that fail or were given up, and nothing secret of them', async () => {
  const { app, engine, deps } = await openApp()
  const taskId = await parked(engine, 'a')
  const [tenant] = await keyIn(deps.store, taskId)
  const owner = { tenant, principal: 'ann' }
  const push = { taskId, owner, version: '1.0', createdAt: 0, sentSeq: 2, token: 'secret-token' }
  const url = 'https://hooks.example.com/secret-path?key=secret'
  const error = 'HTTP 500'
  await deps.store.putPush({ ...push, id: 'a', url, attempts: 3, retryAt: 60_000, error })
  await deps.store.putPush({ ...push, id: 'b', url, attempts: 9, failedAt: 1_000, error })
  const { answer } = await ask(app, `/ops/tasks/${taskId}/webhooks`)
  const to = 'https://hooks.example.com'
  expect(answer).toEqual({
    taskId,
    webhooks: [
      {
        ...{ webhookId: 'a', to, status: 'open', deliveredSeq: 2, attempts: 3, error },
        retryAt: '1970-01-01T00:01:00.000Z',
      },
      {
        ...{ webhookId: 'b', to, status: 'failed', deliveredSeq: 2, attempts: 9, error },
        failedAt: '1970-01-01T00:00:01.000Z',
      },
    ],
  })
  expect((await ask(app, '/ops/tasks/nobody/webhooks')).status).toBe(404)
})

it.each([
  ['POST', '/ops/budgets/nothing/refill'],
  ['DELETE', '/ops/budgets/nothing'],
  ['DELETE', '/ops/rules/nothing'],
  ['DELETE', '/ops/holds/nothing'],
  ['GET', '/ops/holds/nothing'],
  ['POST', '/ops/schedules/nothing/run'],
  ['POST', '/ops/schedules/nothing/pause'],
  ['POST', '/ops/schedules/nothing/resume'],
])('does not find what is not there: %s %s', async (method, path) => {
  const { app } = await openApp()
  expect(await ask(app, path, method)).toMatchObject({
    status: 404,
    answer: { error: { code: 'NOT_FOUND', message: expect.stringContaining('nothing') } },
  })
})

it('describes every route as OpenAPI', async () => {
  const { app } = await openApp()
  const { answer } = await ask(app, '/ops/openapi.json')
  const { paths } = answer as { paths: Record<string, Record<string, unknown>> }
  for (const { path, method } of opsRoutes) expect(paths[path]).toHaveProperty(method.toLowerCase())
  expect(paths).toHaveProperty(['/ops/changes'])
  expect(paths).toHaveProperty(['/.well-known/lull-receipt-keys.json', 'get', 'security'], [])
})

it('tells what changes', async () => {
  const { app, engine } = await openApp()
  const response = await app.request('/ops/changes')
  const reader = response.body?.getReader()
  const next = async () => new TextDecoder().decode((await reader?.read())?.value)
  expect(await next()).toContain('"tasks":[]')
  const taskId = await parked(engine, 'a')
  expect(await next()).toContain(taskId)
  await reader?.cancel()
})

it('tells which methods a path of /ops has', async () => {
  const { app } = await openApp()
  const { headers, status } = await app.request('/ops/holds', { method: 'PUT' })
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
  expect((await app.request('/ops/nothing')).status).toBe(404)
  // The id is missing.
  expect((await app.request('/ops/holds/', { method: 'DELETE' })).status).toBe(404)
})

it('shows the only process of an embedded store', async () => {
  const { app, engine } = await openApp()
  const { answer } = await ask(app, '/ops/workers')
  const agents = [...engine.agents.keys()]
  const one = { id: engine.worker(), here: true, alive: true, agents, running: 0, draining: false }
  expect(answer).toMatchObject({ workers: [one] })
  expect(await (await app.request('/healthz')).json()).toMatchObject({ worker: engine.worker() })
  expect(await (await app.request('/readyz')).json()).toMatchObject({ worker: engine.worker() })
})

it('shows how busy the agents are', async () => {
  const { app, engine } = await openApp()
  await parked(engine, 'go')
  const { answer } = await ask(app, '/ops/queues')
  expect(answer).toMatchObject({ queues: [{ limit: 64, used: expect.any(Number), waiting: 0 }] })
})

it('shows nothing about machines and their work to an operator of one tenant', async () => {
  const scopes = new Set<Scope>(['ops:read'])
  const { app, engine } = await openApp({
    identityOf: () => ({ tenant: 'acme', principal: 'op', scopes }),
  })
  const { answer } = await ask(app, '/ops/workers')
  const agents = [...engine.agents.keys()]
  const one = { id: engine.worker(), here: true, alive: true, agents, draining: false }
  expect(answer).toEqual({ workers: [one] })
  await parked(engine, 'go', 'acme')
  const { slots } = await engine.health()
  const queues = slots.map(({ agent, limit }) => ({ agent, limit }))
  expect((await ask(app, '/ops/queues')).answer).toEqual({ queues })
  expect(queues).toHaveLength(1)
})

it('reads the log of a task no longer when its timeline is refused', async () => {
  const { engine } = await openApp()
  const taskId = await parked(engine, 'a')
  const gone = new Proxy(engine, {
    get(target, name) {
      if (name === 'get') return () => Promise.reject(new LullError('TASK_NOT_FOUND', { taskId }))
      return Reflect.get(target, name) as unknown
    },
  })
  const app = new Hono()
  app.onError(refusalOf)
  addOpsRoutes(app, gone, () => owner)
  const { subscribers } = await engine.health()
  expect((await app.request(`/ops/tasks/${taskId}/timeline`)).status).toBe(404)
  expect((await engine.health()).subscribers).toBe(subscribers)
})
