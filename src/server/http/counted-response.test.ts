/** Cites F2 to F4 of counted-response.ts, on real sockets, with handlers that know nothing of the counting. */
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import type { Identity } from '../auth/identity.ts'
import { startServer } from '../serve.ts'
import { createBytesInFlight } from './bytes-in-flight.ts'
import type { CountedResponse } from './counted-response.ts'
import { type Listener, listen } from './listen.ts'

const ann: Identity = { tenant: 'acme', principal: 'ann', scopes: new Set() }
/** More than a connection on one machine takes before its reader does. */
const LARGE = 12_000_000

const after: (() => unknown)[] = []
afterEach(async () => {
  for (const end of after.splice(0)) await end()
})

/** A client that reads the first bytes of its answer and then nothing more. @returns the status */
function deaf(
  port: number,
  path: string,
  headers = '',
): Promise<{ status: number; socket: Socket }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`)
    })
    after.push(() => socket.destroy())
    socket.on('error', reject)
    socket.once('readable', () => {
      const first: Buffer | null = socket.read()
      socket.removeAllListeners('readable')
      socket.pause()
      if (first === null) reject(new Error('closed'))
      else resolve({ status: Number(first.toString('latin1', 9, 12)), socket })
    })
  })
}

type Handler = (outgoing: CountedResponse) => void

async function open(limit: number, handler: Handler) {
  const inFlight = createBytesInFlight(limit)
  const listener: Listener = await listen('127.0.0.1', 0)
  after.push(() => listener.close(0))
  const responses: CountedResponse[] = []
  listener.answer((_, outgoing) => {
    outgoing.countFor(inFlight.account(ann))
    responses.push(outgoing)
    handler(outgoing)
  })
  /** What is free: the largest account that can still be opened. */
  const isFree = (bytes: number): boolean => {
    const account = inFlight.account(ann)
    const refused = account.set(bytes)
    account.set(0)
    return refused === undefined
  }
  return { port: listener.port, responses, isFree }
}

const whole: Handler = (outgoing) => outgoing.writeHead(200).end('x'.repeat(LARGE))
const pieces: Handler = (outgoing) => {
  outgoing.writeHead(200)
  for (let n = 0; n < 1_000; n++) outgoing.write('x'.repeat(LARGE / 1_000))
  outgoing.end()
}
const implicit: Handler = (outgoing) => void outgoing.end(Buffer.alloc(LARGE))

it.each([
  ['a whole text', whole],
  ['bytes without a head', implicit],
])('F3: %s that nobody reads is counted, and the next one is refused', async (_, handler) => {
  const { port, isFree } = await open(LARGE * 2, handler)
  expect((await deaf(port, '/')).status).toBe(200)
  expect((await deaf(port, '/')).status).toBe(200)
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await answer.json()).toMatchObject({
    error: { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('bytesInFlight') },
  })
  expect(isFree(1)).toBe(false)
})

it('F3: an answer that began already is cut, also when its pieces are small', async () => {
  const { port, responses, isFree } = await open(1_000_000, pieces)
  await expect(deaf(port, '/')).rejects.toThrow()
  expect(responses[0]?.destroyed).toBe(true)
  await expect.poll(() => isFree(1_000_000)).toBe(true)
})

it('F2: what was read counts no longer, and neither does what nobody will read', async () => {
  const { port, isFree } = await open(LARGE, whole)
  for (let n = 0; n < 3; n++) {
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    expect((await answer.text()).length).toBe(LARGE)
  }
  const { socket } = await deaf(port, '/')
  expect(isFree(1)).toBe(false)
  socket.destroy()
  await expect.poll(() => isFree(LARGE)).toBe(true)
})

it('F4: a client that takes nothing for too long is disconnected, one that has all is not', async () => {
  const { port, responses } = await open(LARGE * 2, whole)
  await deaf(port, '/')
  const connection = responses[0]?.socket
  expect(connection?.timeout).toBe(30_000)
  connection?.emit('timeout')
  expect(connection?.destroyed).toBe(true)

  let taken: CountedResponse | undefined
  const stream = await open(LARGE * 2, (outgoing) => {
    taken = outgoing
    outgoing.write('x'.repeat(LARGE))
  })
  const answer = await fetch(`http://127.0.0.1:${stream.port}/`)
  const reader = answer.body?.getReader()
  for (let size = 0; size < LARGE; ) size += (await reader?.read())?.value?.length ?? 0
  await expect.poll(() => taken?.writableLength).toBe(0)
  taken?.socket?.emit('timeout')
  expect(taken?.destroyed).toBe(false)
  await reader?.cancel()
})

it('clients that read nothing of an export are refused above the limit, like those of any other route', async () => {
  const serving = await startServer({
    agents: [createScriptAgent()],
    port: 0,
    store: 'memory',
    signals: false,
    limits: { bytesInFlight: 5_000_000 },
    log: () => undefined,
  })
  after.push(() => serving.close())
  const script = JSON.stringify({ script: [{ park: { reason: 'x' } }] })
  const message = {
    messageId: 'm',
    role: 'ROLE_USER',
    parts: [{ text: script + ' '.repeat(9_000_000) }],
  }
  const sent = await fetch(`${serving.url}/message:send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ message, configuration: { returnImmediately: true, historyLength: 0 } }),
  })
  const { task } = (await sent.json()) as { task: { id: string } }
  // The owner is limited by the total alone, which is four times as much.
  const exported = () => deaf(serving.port, `/ops/tasks/${task.id}/export`)
  const read = () => deaf(serving.port, `/tasks/${task.id}`, 'A2A-Version: 1.0\r\n')
  const statuses: number[] = []
  for (const ask of [exported, read, exported, read]) statuses.push((await ask()).status)
  expect(statuses).toEqual([200, 200, 503, 503])
  expect((await fetch(`${serving.url}/readyz`)).status).toBe(200)
})
