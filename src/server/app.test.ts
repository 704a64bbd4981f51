import { describe, expect, it } from 'vitest'
import { anybody } from './caller.ts'
import { openApp } from './test-support/open-app.ts'

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

describe('events', () => {
  async function post(body: unknown, headers: Record<string, string> = structured) {
    const opened = await openApp()
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const send = () => opened.app.request('/events', { method: 'POST', headers, body: text })
    return { ...opened, send, response: await send() }
  }

  it('wakes the task that waits for it', async () => {
    const { app, engine } = await openApp()
    const parts = [{ text: 'done' }]
    const message = { messageId: 'm1', role: 'ROLE_USER' as const, parts }
    const sent = await engine.send(anybody, { message })
    if (sent.kind !== 'task') throw new Error('no task')
    await engine.waitFor(anybody, sent.task.id, (task) => task.state === 'paused-by-agent')

    const body = JSON.stringify(event)
    const response = await app.request('/events', { method: 'POST', headers: structured, body })
    expect(response.status).toBe(202)
    const woken = await engine.waitFor(anybody, sent.task.id, (task) => task.state === 'completed')
    expect(woken.statusMessage?.parts).toEqual([{ text: 'done' }])
  })

  it('acknowledges a duplicate and ignores it', async () => {
    const { response, send } = await post(event)
    expect(await response.json()).toEqual({ accepted: 1, duplicates: 0 })
    expect(await (await send()).json()).toEqual({ accepted: 0, duplicates: 1 })
  })

  it('takes a batch', async () => {
    const batch = [event, { ...event, id: '2' }]
    const headers = { 'content-type': 'application/cloudevents-batch+json; charset=utf-8' }
    const { response } = await post(batch, headers)
    expect(await response.json()).toEqual({ accepted: 2, duplicates: 0 })
  })

  it.each([
    ['no JSON', '{', 'The body is not valid JSON'],
    ['another version', { ...event, specversion: '0.3' }, 'specversion: must be "1.0"'],
    ['no type', { ...event, type: undefined }, 'events.0.type'],
    ['no object', 'null', 'specversion'],
  ])('refuses what is not an event: %s', async (_, body, problem) => {
    const { response } = await post(body)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { message: string } }
    expect(error.message).toContain(problem)
  })

  it('refuses another media type', async () => {
    const { response } = await post(event, { 'content-type': 'text/plain' })
    expect(response.status).toBe(415)
  })
})
