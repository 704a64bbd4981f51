/**
 * More of everything than the server can do: senders without a pause, clients that read nothing of large answers and streams,
 * clients that never finish their request. `npm run overload` does the same for a minute.
 */
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openProbedServer, type ProbedServer } from './hostile/probed-server.ts'

const FOR_MS = Number(process.env['LULL_OVERLOAD_MS'] ?? 2_500)
const SENDERS = 32
const SLOW = 150
/** Far below what all requests and answers have together, and far above what the server needs without load. */
const MEMORY_BYTES = 900_000_000

let server: ProbedServer
beforeAll(async () => {
  server = await openProbedServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
const figures = { taken: 0, refused: 0, broken: 0, unhealthy: 0, healthChecks: 0, peakBytes: 0 }
const sent = new Set<string>()
const limits = new Set<string>()

async function send(text: string, immediate: boolean): Promise<void> {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  const configuration = { returnImmediately: immediate, historyLength: 0 }
  const body = JSON.stringify({ message, configuration })
  const answer = await fetch(`${server.url}/message:send`, { method: 'POST', headers, body })
  const { task, error } = (await answer.json()) as {
    task?: { id: string }
    error?: { message: string }
  }
  if (task !== undefined) {
    figures.taken++
    sent.add(task.id)
    return
  }
  // Every refusal says which limit, and when to come back.
  expect([429, 503]).toContain(answer.status)
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  limits.add(error?.message ?? '')
  figures.refused++
}

const script = (...ops: readonly object[]): string => JSON.stringify({ script: ops })

async function sendUntil(end: number, n: number): Promise<void> {
  for (let turn = n; performance.now() < end; turn++) {
    const text = turn % 8 === 0 ? 'x'.repeat(100_000) : script({ say: 'x' }, { step: 's', ms: 1 })
    await send(text, turn % 2 === 0).catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error
      figures.broken++
    })
  }
}

/** A client that sends bytes and never reads. */
function deaf(bytes: string): Socket {
  const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes))
  socket.on('error', () => undefined)
  socket.pause()
  return socket
}

function slowClients(taskId: string): readonly Socket[] {
  const get = `GET /tasks/${taskId} HTTP/1.1\r\nHost: 127.0.0.1\r\nA2A-Version: 1.0\r\n\r\n`
  const follow = get.replace('GET /tasks', 'POST /tasks').replace(' HTTP', ':subscribe HTTP')
  const half = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000000\r\n\r\n${'x'.repeat(8_000_000)}`
  const kinds = [get, follow, half, half.slice(0, 60)]
  return Array.from({ length: SLOW }, (_, n) => deaf(kinds[n % kinds.length] ?? get))
}

async function watchUntil(end: number): Promise<void> {
  while (performance.now() < end) {
    const { status } = await fetch(`${server.url}/healthz`)
    figures.healthChecks++
    if (status !== 200) figures.unhealthy++
    figures.peakBytes = Math.max(figures.peakBytes, await server.memory())
  }
}

async function stateOf(id: string): Promise<string> {
  const answer = await fetch(`${server.url}/tasks/${id}?historyLength=0`, { headers })
  return ((await answer.json()) as { status: { state: string } }).status.state
}

it(
  'ten times what the server can do: memory is bounded, and everything it took is finished',
  async () => {
    const large = script({ park: { reason: 'x' } }) + ' '.repeat(5_000_000)
    await send(large, true)
    const [parked = ''] = sent
    sent.clear()
    const slow = slowClients(parked)
    const end = performance.now() + FOR_MS
    const senders = Array.from({ length: SENDERS }, (_, n) => sendUntil(end, n))
    await Promise.all([...senders, watchUntil(end)])
    for (const socket of slow) socket.destroy()

    for (const id of sent) await expect.poll(() => stateOf(id)).toBe('TASK_STATE_COMPLETED')
    if (process.env['LULL_OVERLOAD_MS']) console.log(figures, [...limits])
    expect(figures.unhealthy).toBe(0)
    expect(figures.healthChecks).toBeGreaterThan(0)
    expect(figures.taken).toBeGreaterThan(0)
    expect(figures.peakBytes).toBeLessThan(MEMORY_BYTES)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  },
  FOR_MS + 120_000,
)
