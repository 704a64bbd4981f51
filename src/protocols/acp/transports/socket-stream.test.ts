/** Z1 to Z4: socket-stream.ts. */
import { expect, it } from 'vitest'
import { anyone, type Harness, openHarness } from '../test-support/harness.ts'
import type { ReachedLimit, SocketLimits } from './socket-stream.ts'

interface Answer {
  readonly id?: number | null
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly data?: unknown }
}

/** A socket whose client is the test. It takes what is sent at once, unless the test says otherwise. */
function fakeSocket() {
  const listeners = new Map<string, (...args: unknown[]) => void>()
  const waiting: (() => void)[] = []
  const seen = { answers: [] as Answer[], closed: [] as unknown[], pauses: 0, resumes: 0 }
  const socket = {
    bufferedAmount: 0,
    send(data: string, taken?: () => void) {
      seen.answers.push(JSON.parse(data) as Answer)
      if (taken !== undefined) waiting.push(taken)
      if (socket.bufferedAmount === 0) for (const one of waiting.splice(0)) setImmediate(one)
    },
    close: (code?: number) => void seen.closed.push(code),
    on: (type: string, listener: (...args: unknown[]) => void) => listeners.set(type, listener),
    pause: () => void seen.pauses++,
    resume: () => void seen.resumes++,
  }
  return {
    seen,
    socket,
    say: (text: string) => listeners.get('message')?.(Buffer.from(text), false),
    takeAll() {
      socket.bufferedAmount = 0
      for (const one of waiting.splice(0)) one()
    },
    leave: () => listeners.get('close')?.(),
  }
}

/** Limits that count, and refuse nothing unless the test says so. */
function countingLimits() {
  const count = { entered: 0, open: 0, mostOpen: 0, taken: 0, held: 0 }
  const refuse: { enter?: ReachedLimit; take?: ReachedLimit; above: number } = { above: 1e9 }
  const limits: SocketLimits = {
    enter() {
      if (refuse.enter !== undefined) return refuse.enter
      count.entered++
      count.open++
      count.mostOpen = Math.max(count.mostOpen, count.open)
      return () => void count.open--
    },
    take() {
      if (refuse.take === undefined) count.taken++
      return refuse.take
    },
    hold(bytes) {
      if (bytes > refuse.above) return { limit: 'bytes', value: refuse.above }
      count.held = bytes
      return undefined
    },
  }
  return { count, refuse, limits }
}

async function connect(harness: Harness) {
  const client = fakeSocket()
  const { count, refuse, limits } = countingLimits()
  harness.acp.upgrade({ caller: anyone, limits })?.accept(client.socket)
  let ids = 0
  const request = (method: string, params: object = {}): number => {
    client.say(JSON.stringify({ jsonrpc: '2.0', id: ++ids, method, params }))
    return ids
  }
  const answerTo = async (id: number): Promise<Answer | undefined> => {
    const find = () => client.seen.answers.find((one) => one.id === id)
    await expect.poll(find).toBeDefined()
    return find()
  }
  await answerTo(request('initialize', { protocolVersion: 1 }))
  const answers = () => client.seen.answers.filter(({ id }) => id !== undefined).length
  return { ...client, count, refuse, request, answerTo, answers }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const early = { limit: 'requestsPerSecond of the principal', value: 1, waitMs: 100 }

it('Z1: what comes too early waits, and nothing of it is lost or refused', async () => {
  const harness = await openHarness()
  const { request, answers, seen, count, refuse, say } = await connect(harness)
  refuse.enter = early
  refuse.take = early
  for (let n = 0; n < 300; n++) request('session/list')
  say(JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 'x' } }))
  for (let n = 0; n < 10; n++) await turn()
  expect([answers(), seen.pauses, seen.resumes]).toEqual([1, 1, 0])
  delete refuse.enter
  harness.clock.advance(100)
  await expect.poll(answers).toBe(301)
  expect([count.taken, seen.resumes]).toEqual([0, 0])
  delete refuse.take
  harness.clock.advance(100)
  await expect.poll(() => [count.taken, seen.resumes]).toEqual([1, 1])
  expect([seen.answers.filter(({ error }) => error).length, seen.closed]).toEqual([0, []])
})

it('Z1: a request is open until it is answered, and one too many is answered with the limit', async () => {
  const harness = await openHarness()
  const { request, answerTo, say, count, refuse, leave } = await connect(harness)
  const opened = await answerTo(request('session/new', { cwd: '/work', mcpServers: [] }))
  const text = JSON.stringify({ script: [{ step: 'long', ms: 60_000 }] })
  const sessionId = opened?.result?.['sessionId']
  const turnId = request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  await harness.began('long')
  expect([count.entered, count.open]).toEqual([3, 1])
  refuse.enter = { limit: 'requestsOpen of the principal', value: 1 }
  const data = { reason: 'limit_exceeded', limit: 'requestsOpen of the principal', value: 1 }
  expect(await answerTo(request('session/list'))).toMatchObject({ error: { code: -32011, data } })
  delete refuse.enter
  // A second request with the id of an open one would make its answers ambiguous.
  say(JSON.stringify({ jsonrpc: '2.0', id: turnId, method: 'session/list', params: {} }))
  expect((await answerTo(turnId))?.error?.code).toBe(-32600)
  expect(count.open).toBe(1)
  leave()
  expect([count.open, count.held]).toEqual([0, 0])
})

it('Z2: the socket is not read while 32 requests are unanswered', async () => {
  const { request, answers, seen, count } = await connect(await openHarness())
  for (let n = 0; n < 500; n++) request('session/list')
  await expect.poll(answers).toBe(501)
  expect(count.mostOpen).toBeLessThanOrEqual(32)
  expect([seen.pauses, seen.resumes, count.open, seen.closed]).toEqual([1, 1, 0, []])
})

it('Z2: the socket is not read while the client does not take its answers', async () => {
  const { request, answerTo, answers, seen, socket, takeAll } = await connect(await openHarness())
  socket.bufferedAmount = 1
  await answerTo(request('session/list'))
  socket.bufferedAmount = 262_145
  for (let n = 0; n < 50; n++) request('session/list')
  for (let n = 0; n < 10; n++) await turn()
  expect([answers(), seen.pauses, seen.resumes]).toEqual([2, 1, 0])
  takeAll()
  await expect.poll(answers).toBe(52)
  expect(seen.resumes).toBe(1)
})

it('Z3: a request that would be too much is refused, and any other message ends the socket', async () => {
  const { request, answerTo, seen, count, refuse, say } = await connect(await openHarness())
  refuse.above = 100_000
  const pad = 'x'.repeat(150_000)
  const error = { code: -32011, data: { reason: 'limit_exceeded', limit: 'bytes', value: 100_000 } }
  expect(await answerTo(request('session/list', { pad }))).toMatchObject({ error })
  expect((await answerTo(request('session/list')))?.result).toBeDefined()
  expect([count.held, seen.closed]).toEqual([0, []])
  say(JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { pad } }))
  expect(seen.closed).toEqual([1013])
})

it('Z3: output that the client does not take ends the socket when it is too much', async () => {
  const { request, seen, socket, refuse, count } = await connect(await openHarness())
  refuse.above = 200_000
  request('session/list')
  socket.bufferedAmount = 200_001
  await expect.poll(() => seen.closed).toEqual([1013])
  expect(count.open).toBe(0)
})

it('Z4: of many messages one is handed on in a turn of the event loop', async () => {
  const { request, answers, count } = await connect(await openHarness())
  for (let n = 0; n < 200; n++) request('session/list')
  let most = 0
  let turns = 0
  let before = count.entered
  while (answers() < 201) {
    await turn()
    turns++
    most = Math.max(most, count.entered - before)
    before = count.entered
  }
  expect(most).toBe(1)
  expect(turns).toBeGreaterThanOrEqual(200)
})

it('attaches to so many sessions, and makes none that it cannot attach to', async () => {
  const harness = await openHarness()
  const { request, answers, answerTo } = await connect(harness)
  for (let n = 0; n < 1_000; n++) request('session/new', { cwd: '/work', mcpServers: [] })
  await expect.poll(answers).toBe(1_001)
  const refused = await answerTo(request('session/new', { cwd: '/work', mcpServers: [] }))
  const data = { reason: 'limit_exceeded', limit: 'sessions of the connection', value: 1_000 }
  expect(refused?.error).toMatchObject({ code: -32011, data })
  const { tenant, principal } = anyone
  const rows = await harness.store.sessions(tenant, principal, undefined, 2_000)
  expect(rows.length).toBe(1_000)
})

it('answers what is no message, and takes nothing before initialize', async () => {
  const harness = await openHarness()
  const { say, seen, request, answerTo } = await connect(harness)
  for (const text of ['{', '[]', '7', '{"jsonrpc":"2.0","id":null,"method":"session/list"}'])
    say(text)
  expect((await answerTo(request('initialize', { protocolVersion: 1 })))?.error?.code).toBe(-32600)
  const codes = seen.answers.filter(({ id }) => id === null).map(({ error }) => error?.code)
  expect(codes).toEqual([-32700, -32600, -32600, -32600])

  const hasty = fakeSocket()
  harness.acp.upgrade({ caller: anyone })?.accept(hasty.socket)
  hasty.say(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session/list', params: {} }))
  await expect.poll(() => hasty.seen.closed).toEqual([1002])
})
