import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { divertHttp2 } from './first-bytes.ts'

let server: Server
let port: number
/** What the connections of HTTP/2 sent. */
let diverted: Socket[]

beforeEach(async () => {
  diverted = []
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => response.end(`${request.method} ${body}`))
  })
  divertHttp2(server, (socket) => diverted.push(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
})
afterEach(async () => {
  for (const socket of diverted) socket.destroy()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function sendSlowly(text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('utf8')
  await once(socket, 'connect')
  for (const byte of text) await new Promise((resolve) => socket.write(byte, resolve))
  return socket
}

const request = (method: string): string =>
  `${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok`

it.each(['POST', 'PUT', 'PROPFIND'])(
  'HTTP/1.1 is served whatever its first bytes are: %s',
  async (method) => {
    const socket = await sendSlowly(request(method))
    const [answer] = await once(socket, 'data')
    expect(answer).toContain(`${method} ok`)
    expect(diverted).toEqual([])
    socket.destroy()
  },
)

it('serves requests that were sent at once, in order', async () => {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  socket.write(request('POST') + request('PUT'))
  let answers = ''
  socket.on('data', (chunk) => {
    answers += chunk
  })
  await expect.poll(() => answers).toMatch(/POST ok[\s\S]*PUT ok/)
  socket.destroy()
})

it('passes on HTTP/2 with every byte that came', async () => {
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
  const socket = await sendSlowly(preface)
  await expect.poll(() => diverted.length).toBe(1)
  let read = ''
  diverted[0]?.setEncoding('latin1').on('data', (chunk) => {
    read += chunk
  })
  diverted[0]?.resume()
  await expect.poll(() => read).toBe(preface)
  socket.destroy()
  await once(diverted[0] as Socket, 'close')
})

it('lets clients go that hang up before they have said anything', async () => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.end('PR')
  await once(socket, 'close')
  expect(diverted).toEqual([])
})
