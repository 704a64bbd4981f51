import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { takeUpgrades } from './upgrades.ts'

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
