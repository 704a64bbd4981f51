import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { CountedResponse, whenOver } from './counted-response.ts'
import { NodeRequest } from './node-http.ts'

/** Two responses of one connection, the second of which waits for the first, and what closes the connection. */
async function queued() {
  const server = createServer({ ServerResponse: CountedResponse })
  const found: NodeRequest[] = []
  const both = new Promise<void>((resolve) => {
    server.on('request', (incoming, outgoing) => {
      found.push(new NodeRequest(incoming, outgoing))
      if (found.length === 2) resolve()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2))
  await both
  const [first, second] = found as [NodeRequest, NodeRequest]
  const { socket } = first.incoming
  async function disconnect(): Promise<void> {
    const closed = once(socket, 'close')
    client.destroy()
    await closed
    await new Promise((resolve) => server.close(resolve))
  }
  return { first, second, socket, disconnect }
}

it('tells at once that a client is gone which disconnected before', async () => {
  const { first, second, socket, disconnect } = await queued()
  await disconnect()
  const before = socket.listenerCount('close')
  const told: ServerResponse[] = []
  for (const { outgoing } of [first, second]) whenOver(outgoing, () => told.push(outgoing))
  expect(told).toEqual([first.outgoing, second.outgoing])
  expect(socket.listenerCount('close')).toBe(before)
})

it('ends the wait of a request that is queued behind another one of its connection', async () => {
  const { second, disconnect } = await queued()
  let gone = 0
  second.onGone(() => void gone++)
  await disconnect()
  expect(gone).toBe(1)
})

it('leaves no listener behind when the wait ends first', async () => {
  const { first, socket, disconnect } = await queued()
  const before = [first.outgoing, socket].map((one) => one.listenerCount('close'))
  first.onGone(() => undefined)()
  expect([first.outgoing, socket].map((one) => one.listenerCount('close'))).toEqual(before)
  await disconnect()
})
