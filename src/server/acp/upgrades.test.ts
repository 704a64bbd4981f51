import { once } from 'node:events'
import { createServer, IncomingMessage } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { type Duplex, PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { scopes } from '../../core/scopes.ts'
import type { Identity } from '../auth/identity.ts'
import { createBytesInFlight } from '../http/bytes-in-flight.ts'
import { createUpgrade, takeUpgrades } from './upgrades.ts'

it('ends a request that asked for another protocol and never comes to its end, as any other', async () => {
  const times = { headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 5 }
  const server = createServer(times, (request) => request.resume())
  takeUpgrades(server, () => false)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  const head = ['Host: 127.0.0.1', 'Connection: Upgrade', 'Upgrade: h2c', 'Content-Length: 100']
  socket.write(`POST / HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n{`)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += String(chunk)
  })
  await new Promise<void>((resolve) => socket.on('close', () => resolve()))
  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  await new Promise((resolve) => server.close(resolve))
})

it('keeps no more listeners on a connection, however many of its requests ask for another protocol', async () => {
  const server = createServer((_, response) => void response.end('ok'))
  const sockets: Duplex[] = []
  server.on('connection', (socket) => sockets.push(socket))
  takeUpgrades(server, () => false)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const counts: number[] = []
  for (let n = 0; n < 4; n++) {
    const answered = new Promise((resolve) => client.once('data', resolve))
    client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')
    await answered
    const [socket] = sockets
    counts.push(...['close', 'error'].map((name) => socket?.listenerCount(name) ?? 0))
  }
  client.destroy()
  await new Promise((resolve) => server.close(resolve))
  expect(counts.slice(2, 4)).toEqual(counts.slice(6))
})

it('counts no WebSocket of a client that disconnects while its credential is checked', async () => {
  const counted: string[] = []
  let identified: (identity: Identity) => void = () => undefined
  const upgrade = createUpgrade(
    { upgrade: () => void counted.push('WebSocket') },
    {
      authenticate: () =>
        new Promise((resolve) => {
          identified = resolve
        }),
      admission: {
        enter: () => {
          counted.push('open')
          return () => undefined
        },
        take: () => undefined,
      },
      inFlight: createBytesInFlight(1),
      refused: { ofStranger: () => undefined, ofCaller: () => undefined },
    },
    { host: '127.0.0.1' },
  )
  const socket = new PassThrough()
  const request = Object.assign(new IncomingMessage(new Socket()), {
    url: '/acp',
    headers: { upgrade: 'websocket', host: '127.0.0.1' },
  })
  expect(upgrade(request, socket, Buffer.alloc(0))).toBe(true)
  socket.destroy()
  await once(socket, 'close')
  identified({ tenant: 'acme', principal: 'ann', scopes: new Set(scopes) })
  // Everything that follows from the identity has happened in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  expect(counted).toEqual([])
})
