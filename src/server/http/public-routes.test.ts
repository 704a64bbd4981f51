/** What strangers can reach, over a real socket. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { scriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, serve } from '../serve.ts'
import { openApp } from '../test-support/open-app.ts'

let data: string
let serving: RunningServer
let asked: string[]
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-public-'))
  asked = []
  serving = await serve({
    agents: [scriptAgent],
    port: 0,
    data,
    limits: { requestsPerSecond: 1 },
    authenticate(request) {
      asked.push(request.path)
      return undefined
    },
    log: () => undefined,
    quiet: true,
    signals: false,
  })
})
afterEach(async () => {
  await serving.close()
  rmSync(data, { recursive: true })
})

/** The status of each answer to the bytes. */
function statuses(bytes: string): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(serving.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.on('error', reject)
    socket.on('close', () =>
      resolve([...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))),
    )
    socket.write(bytes)
  })
}

const get = (path: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${more}\r\n`
const last = 'Connection: close\r\n'

it('tells its health also while strangers have used up their limits', async () => {
  const cards = get('/.well-known/agent-card.json').repeat(5)
  const health = get('/readyz').repeat(20) + get('/healthz').repeat(20)
  const told = await statuses(cards + health + get('/readyz', last))
  expect(told.slice(0, 5)).toContain(429)
  expect(told.slice(5)).toEqual(Array(41).fill(200))
})

it('looks at the store once for all who ask at the same time whether it is ready', async () => {
  let looks = 0
  let answer: () => void = () => undefined
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const { engine } = await openApp()
  const slow = new Proxy(engine, {
    get: (target, name) => (name === 'health' ? health : (Reflect.get(target, name) as unknown)),
  })
  const health = async () => {
    looks++
    await answered
    return engine.health()
  }
  const { app } = await openApp({ engine: slow })
  const all = [1, 2, 3].map(async () => (await app.request('/readyz')).status)
  await expect.poll(() => looks).toBe(1)
  answer()
  expect([await Promise.all(all), looks]).toEqual([[200, 200, 200], 1])
})

it.each(['/healthz', '/readyz', '/dashboard/', '/.well-known/agent-card.json'])(
  'takes no body at the public address %s',
  async (path) => {
    const chunked = get(path, `Transfer-Encoding: chunked\r\n${last}`)
    expect(await statuses(`${chunked}1\r\nx\r\n0\r\n\r\n`)).toEqual([413])
    expect(await statuses(get(path, `Content-Length: 10000000\r\n${last}`))).toEqual([413])
  },
)

it.each([
  ['/dashboard/..', '/'],
  ['/dashboard/%2e%2E/', '/'],
  ['/dashboard/../ops/tasks', '/ops/tasks'],
  ['/dashboard/x/./../../events', '/events'],
  ['/dashboard\\..\\metrics', '/metrics'],
  ['http://127.0.0.1/dashboard/..?a=1', '/'],
])('decides who may ask by the path that is routed: %s', async (path, routed) => {
  expect(await statuses(get(path, last))).toEqual([401])
  expect(asked).toEqual([routed])
})
