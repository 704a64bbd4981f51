/** WF1 to WF3: acp-sockets.ts, over real sockets and with a socket of the test. */
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { scriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, serve } from '../serve.ts'
import { limitFrames } from './acp-sockets.ts'

let data: string
let serving: RunningServer
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-sockets-'))
  const quiet = { log: () => undefined, quiet: true, signals: false }
  const limits = { bytesInFlight: 100_000 }
  serving = await serve({ agents: [scriptAgent], port: 0, data, limits, ...quiet })
})
afterEach(async () => {
  await serving.close()
  rmSync(data, { recursive: true })
})

async function open(): Promise<WebSocket> {
  const socket = new WebSocket(`${serving.url.replace('http', 'ws')}/acp`)
  await once(socket, 'open')
  return socket
}

it('WF1: counts messages that are not complete in the bytes in flight, and closes what is too much', async () => {
  const closed: number[] = []
  const sockets: WebSocket[] = []
  // All callers together have 400,000 bytes, so two messages of 150,000 fit.
  for (let n = 0; n < 6; n++) {
    const socket = await open()
    socket.on('close', (code) => closed.push(code))
    socket.send('x'.repeat(150_000), { fin: false })
    sockets.push(socket)
  }
  await expect.poll(() => closed).toEqual([1013, 1013, 1013, 1013])
  const left = sockets.filter(({ readyState }) => readyState === WebSocket.OPEN)
  expect(left.length).toBe(2)
  // What they had is free again when they are gone.
  for (const socket of left) socket.terminate()
  await expect.poll(() => closed.length).toBe(6)
  const [first] = [await open()]
  first?.send(JSON.stringify({ pad: 'x'.repeat(150_000) }))
  const [code] = first === undefined ? [] : await once(first, 'close')
  expect(code).toBe(1002)
})

it('WF2: answers pings, and disconnects a client that sends very many', async () => {
  const socket = await open()
  const pong = once(socket, 'pong')
  for (let n = 1; n <= 100; n++) socket.ping(String(n))
  expect(String((await pong)[0])).toBe('1')
  expect(socket.readyState).toBe(WebSocket.OPEN)
  socket.ping()
  const [code] = await once(socket, 'close')
  expect(code).toBe(1008)
})

class FakeWebSocket extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  bufferedAmount = 0
  readonly pongs: string[] = []
  readonly taken: (() => void)[] = []
  pauses = 0
  resumes = 0
  pong(sent: Buffer, _mask: boolean, taken: () => void): void {
    this.pongs.push(String(sent))
    this.taken.push(taken)
  }
  pause(): void {
    this.pauses++
  }
  resume(): void {
    this.resumes++
  }
}

it('WF2: has one answer to a ping in memory, for the latest one', () => {
  const webSocket = new FakeWebSocket()
  limitFrames(webSocket as unknown as WebSocket, new PassThrough())
  for (let n = 1; n <= 50; n++) webSocket.emit('ping', Buffer.from(String(n)))
  expect(webSocket.pongs).toEqual(['1'])
  webSocket.taken.shift()?.()
  webSocket.taken.shift()?.()
  expect(webSocket.pongs).toEqual(['1', '50'])
  webSocket.emit('close')
})

it('WF3: gives others their turn after each piece, and reads on unless messages must wait', async () => {
  const webSocket = new FakeWebSocket()
  const socket = new PassThrough()
  const limited = limitFrames(webSocket as unknown as WebSocket, socket)
  socket.emit('data', Buffer.alloc(10))
  expect([webSocket.pauses, webSocket.resumes]).toEqual([1, 0])
  await new Promise((resolve) => setImmediate(resolve))
  expect([webSocket.pauses, webSocket.resumes]).toEqual([1, 1])
  limited.pause?.()
  socket.emit('data', Buffer.alloc(10))
  await new Promise((resolve) => setImmediate(resolve))
  expect(webSocket.resumes).toBe(1)
  limited.resume?.()
  expect(webSocket.resumes).toBe(2)
  webSocket.emit('close')
})
