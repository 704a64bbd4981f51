import { describe, expect, it } from 'vitest'
import type { Engine } from '../../engine/engine.ts'
import { callerOf, owner } from '../auth/identity.ts'
import { openApp } from '../test-support/open-app.ts'

const anybody = callerOf(owner)

const structured = { 'content-type': 'application/cloudevents+json' }
const event = { specversion: '1.0', id: '1', source: 'ci', type: 'done' }

it('is not found where there is nothing, and says so in JSON', async () => {
  const { app } = await openApp()
  const response = await app.request('/nowhere')
  expect(response.status).toBe(404)
  expect(await response.json()).toEqual({
    error: { code: 'NOT_FOUND', message: 'There is nothing at /nowhere' },
  })
})

it('tells which methods a path has', async () => {
  const { app } = await openApp()
  const response = await app.request('/healthz', { method: 'DELETE' })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('GET, HEAD')
  const agent = await app.request('/agents/waiter')
  expect(agent.status).toBe(405)
  expect(agent.headers.get('allow')).toBe('POST')
  expect((await app.request('/agents/nobody')).status).toBe(404)
})

it('greets people with a page that runs nothing', async () => {
  const { app } = await openApp()
  const response = await app.request('/')
  expect(response.headers.get('content-type')).toContain('text/html')
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  const page = await response.text()
  expect(page).toContain('http://127.0.0.1:8787/agents/waiter')
  expect(page).toContain('Waits &lt;for&gt; what it is told')
})

describe('health', () => {
  it('is healthy and ready', async () => {
    const { app } = await openApp()
    expect((await app.request('/healthz')).status).toBe(200)
    const ready = await app.request('/readyz')
    expect(ready.status).toBe(200)
    expect(await ready.json()).toMatchObject({ ready: true, store: 'ok' })
  })

  it('stays healthy and is not ready while it drains', async () => {
    const { app, engine } = await openApp()
    await engine.drain()
    expect((await app.request('/healthz')).status).toBe(200)
    expect((await app.request('/readyz')).status).toBe(503)
  })
})

/** A task that is parked on that event. */
async function waitingFor(engine: Engine, name: string, caller = anybody): Promise<string> {
  const message = { messageId: name, role: 'ROLE_USER' as const, parts: [{ text: name }] }
  const sent = await engine.send(caller, { message })
  if (sent.kind !== 'task') throw new Error('no task')
  await engine.waitFor(caller, sent.task.id, (task) => task.state === 'paused-by-agent')
  return sent.task.id
}

describe('events', () => {
  async function post(body: unknown, headers: Record<string, string> = structured) {
    const opened = await openApp()
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const send = () => opened.app.request('/events', { method: 'POST', headers, body: text })
    return { ...opened, send, response: await send() }
  }

  it('wakes the task that waits for it', async () => {
    const { app, engine } = await openApp()
    const taskId = await waitingFor(engine, 'done')
    const body = JSON.stringify(event)
    const response = await app.request('/events', { method: 'POST', headers: structured, body })
    expect(response.status).toBe(202)
    const woken = await engine.waitFor(anybody, taskId, (task) => task.state === 'completed')
    expect(woken.statusMessage?.parts).toEqual([{ text: 'done' }])
  })

  it('acknowledges a duplicate and ignores it', async () => {
    const { response, send } = await post(event)
    expect(await response.json()).toEqual({ accepted: 1, duplicates: 0, woken: 0 })
    expect(await (await send()).json()).toEqual({ accepted: 0, duplicates: 1, woken: 0 })
  })

  it('takes a batch', async () => {
    const batch = [event, { ...event, id: '2' }]
    const headers = { 'content-type': 'application/cloudevents-batch+json; charset=utf-8' }
    const { response } = await post(batch, headers)
    expect(await response.json()).toEqual({ accepted: 2, duplicates: 0, woken: 0 })
  })

  const batched = { 'content-type': 'application/cloudevents-batch+json' }

  it('takes an event in headers, with its data as the body', async () => {
    const binary = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 'ci', 'ce-type': 'done' }
    const datacontenttype = 'application/json'
    const headers = { ...binary, 'ce-subject': 'a%20b', 'content-type': datacontenttype }
    const { app, engine } = await openApp()
    const taskId = await waitingFor(engine, 'done:a b')
    const send = () => app.request('/events', { method: 'POST', headers, body: '{"ok": true}' })
    const response = await send()
    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({ accepted: 1, duplicates: 0, woken: 1 })
    const woken = await engine.waitFor(anybody, taskId, (task) => task.state === 'completed')
    expect(woken.wake?.event).toEqual({
      ...event,
      subject: 'a b',
      datacontenttype,
      data: { ok: true },
    })
    expect(await (await send()).json()).toEqual({ accepted: 0, duplicates: 1, woken: 0 })
  })

  it('takes a batch as a whole or not at all, and sees duplicates inside it', async () => {
    const wrong = await post([event, { ...event, id: '' }], batched)
    expect(wrong.response.status).toBe(400)
    expect(await wrong.response.json()).toMatchObject({ error: { path: 'events.1.id' } })
    const right = await wrong.app.request('/events', {
      method: 'POST',
      headers: batched,
      body: JSON.stringify([event, event, { ...event, source: 'other' }]),
    })
    expect(await right.json()).toEqual({ accepted: 2, duplicates: 1, woken: 0 })
  })

  it.each([
    ['no JSON', '{', undefined],
    ['a name given twice', '{"id": "1", "id": "2"}', undefined],
    ['nesting without end', `{"data": ${'['.repeat(100)}${']'.repeat(100)}}`, undefined],
    ['another version', { ...event, specversion: '0.3' }, 'specversion'],
    ['no object', 'null', 'specversion'],
    ['no type', { ...event, type: undefined }, 'type'],
    ['no id', { ...event, id: null }, 'id'],
    ['an empty source', { ...event, source: '' }, 'source'],
    ['an endless source', { ...event, source: 'x'.repeat(3_000) }, 'source'],
    ['an empty subject', { ...event, subject: '' }, 'subject'],
    ['a time that is none', { ...event, time: 'yesterday' }, 'time'],
    ['an attribute that is an object', { ...event, build: { id: 1 } }, 'build'],
    ['an attribute that is a fraction', { ...event, build: 1.5 }, 'build'],
    ['an attribute of no name', { ...event, Build_Id: 'x' }, 'Build_Id'],
    ['data twice', { ...event, data: 1, data_base64: 'YQ==' }, 'data_base64'],
    ['bytes that are no base64', { ...event, data_base64: '<bytes>' }, 'data_base64'],
  ])('refuses what is not an event, and writes nothing: %s', async (_, body, path) => {
    const { response, app } = await post(body)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { code: string; path?: string } }
    expect([error.code, error.path]).toEqual(['INVALID_INPUT', path])
    const good = { method: 'POST', headers: structured, body: JSON.stringify(event) }
    expect(await (await app.request('/events', good)).json()).toMatchObject({ accepted: 1 })
  })

  it('takes what CloudEvents allows: extensions, bytes, and null for what is not there', async () => {
    const allowed = { tries: 3, urgent: true, region: 'eu', subject: null, time: null }
    const { response } = await post({ ...event, ...allowed, data_base64: 'YQ==' })
    expect(response.status).toBe(202)
  })

  it('refuses another media type', async () => {
    const { response } = await post(event, { 'content-type': 'text/plain' })
    expect(response.status).toBe(415)
  })
})

describe('/ops/waiting', () => {
  it('tells what the tasks wait for, and refuses what it does not know', async () => {
    const { app, engine } = await openApp()
    const taskId = await waitingFor(engine, 'done')
    const response = await app.request('/ops/waiting?state=paused-by-agent&limit=5')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const conditions = { onEvent: 'done' }
    expect(await response.json()).toMatchObject({ total: 1, tasks: [{ taskId, conditions }] })
    const wrong = await app.request('/ops/waiting?state=asleep')
    expect(wrong.status).toBe(400)
    expect(await wrong.json()).toMatchObject({ error: { code: 'INVALID_INPUT', path: 'state' } })
    const posted = await app.request('/ops/waiting', { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('and /events act in the tenant that is named, and in no other', async () => {
    const { app, engine } = await openApp()
    const taskId = await waitingFor(engine, 'done', { ...anybody, tenant: 'acme' })
    const listed = async (query: string) =>
      (await (await app.request(`/ops/waiting${query}`)).json()) as { total: number }
    expect(await listed('')).toMatchObject({ total: 0 })
    expect(await listed('?tenant=acme')).toMatchObject({ total: 1, tasks: [{ taskId }] })
    const emit = (query: string) =>
      app.request(`/events${query}`, {
        method: 'POST',
        headers: structured,
        body: JSON.stringify(event),
      })
    await emit('')
    expect(await listed('?tenant=acme')).toMatchObject({ total: 1 })
    await emit('?tenant=acme')
    expect(await listed('?tenant=acme')).toMatchObject({ total: 0 })
    for (const tenant of ['', 'x'.repeat(300)]) {
      const refused = await emit(`?tenant=${tenant}`)
      expect(refused.status).toBe(400)
      expect(await refused.json()).toMatchObject({ error: { path: 'tenant' } })
    }
  })
})

describe('the timeline of a task', () => {
  async function ended(engine: Engine): Promise<string> {
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'done' }] }
    const sent = await engine.send(anybody, { message })
    if (sent.kind !== 'task') throw new Error('a task was expected')
    await engine.cancel(anybody, { taskId: sent.task.id })
    return sent.task.id
  }

  it('is told page by page, or live until the task has ended', async () => {
    const { app, engine } = await openApp()
    const id = await ended(engine)
    const response = await app.request(`/ops/tasks/${id}/timeline`)
    const page = (await response.json()) as { entries: { event: string }[]; after: number }
    expect(page.entries.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['submitted', 'canceled']),
    )
    const rest = await app.request(`/ops/tasks/${id}/timeline?after=${page.after}`)
    expect(await rest.json()).toMatchObject({ entries: [], more: false })
    const live = await app.request(`/ops/tasks/${id}/timeline`, {
      headers: { accept: 'text/event-stream' },
    })
    expect(await live.text()).toContain('"event":"canceled"')
  })

  it('refuses a place that is none, and a task that is not there', async () => {
    const { app, engine } = await openApp()
    const id = await ended(engine)
    expect((await app.request(`/ops/tasks/${id}/timeline?after=x`)).status).toBe(400)
    expect((await app.request('/ops/tasks/nobody/timeline')).status).toBe(404)
    const deleted = await app.request(`/ops/tasks/${id}/timeline`, { method: 'DELETE' })
    expect(deleted.status).toBe(405)
  })
})
