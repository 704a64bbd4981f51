import { afterEach, expect, it } from 'vitest'
import { type Listener, listen } from './listen.ts'

let listener: Listener | undefined
afterEach(() => listener?.close(0))

it('answers for its health while the engine starts, and other requests afterwards', async () => {
  listener = await listen('127.0.0.1', 0)
  const url = `http://127.0.0.1:${listener.port}`
  const waiting = fetch(`${url}/tasks`)
  const health = await fetch(`${url}/healthz`)
  expect([health.status, await health.json()]).toMatchObject([200, { status: 'starting' }])
  expect((await fetch(`${url}/readyz?x`)).status).toBe(503)
  listener.answer((_request, response) => response.end('started'))
  expect(await (await waiting).text()).toBe('started')
  expect(await (await fetch(`${url}/healthz`)).text()).toBe('started')
})

it('keeps at most 1,000 requests for the start, and tells the others when to come back', async () => {
  listener = await listen('127.0.0.1', 0)
  const url = `http://127.0.0.1:${listener.port}/tasks`
  const all = Array.from({ length: 1_001 }, () => fetch(url))
  const refused = await Promise.race(all)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  listener.answer((_request, response) => response.end('started'))
  const statuses = (await Promise.all(all)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(1_000)
})
