import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { createPost } from './post.ts'
import { guardedLookup, isInner, TargetRefused } from './targets.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

function listen(answer: RequestListener): Promise<string> {
  server = createServer(answer)
  return new Promise((resolve) => {
    server?.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${portOf()}`)
    })
  })
}

function portOf(): number {
  const address = server?.address()
  return (address as AddressInfo).port
}

// Long, so that a busy machine does not end a delivery early.
const timeoutMs = 30_000
const inside = createPost({ allowInner: true, timeoutMs })
const outside = createPost({ allowInner: false, timeoutMs })
const impatient = createPost({ allowInner: true, timeoutMs: 50 })
const delivery = (url: string) => ({
  tenant: 'acme',
  url,
  headers: { authorization: 'Bearer x' },
  body: '{}',
})

const ownAddresses = Object.values(networkInterfaces()).flatMap((some) =>
  (some ?? []).map(({ address }) => address),
)

describe('a delivery', () => {
  it('is taken when the receiver says so', async () => {
    const url = await listen((_request, response) => response.writeHead(204).end())
    await expect(inside(delivery(url))).resolves.toBeUndefined()
  })

  it.each([400, 404, 500, 302, 304])('fails on %i', async (status) => {
    const url = await listen((_request, response) => response.writeHead(status).end())
    await expect(inside(delivery(url))).rejects.toThrow(`answered ${status}`)
  })

  it('ends in time when the receiver is slow, and needs no more than its first line', async () => {
    const slow = await listen(() => undefined)
    await expect(impatient(delivery(slow))).rejects.toThrow('aborted')
    server?.closeAllConnections()
    server?.close()
    const endless = await listen((_request, response) => {
      response.writeHead(200).write('x')
    })
    await expect(inside(delivery(endless))).resolves.toBeUndefined()
  })

  it('follows a redirect that keeps the body, without the secrets when it leads elsewhere', async () => {
    const seen: (string | undefined)[] = []
    const url = await listen((request, response) => {
      seen.push(request.headers.authorization)
      const port = portOf()
      if (request.url === '/') response.writeHead(307, { location: '/next' }).end()
      else if (request.url === '/next') {
        response.writeHead(308, { location: `http://localhost:${port}/other` }).end()
      } else response.writeHead(200).end()
    })
    await inside(delivery(`${url}/`))
    expect(seen).toEqual(['Bearer x', 'Bearer x', undefined])
    const loop = await listen((_request, response) =>
      response.writeHead(307, { location: '/again' }).end(),
    )
    await expect(inside(delivery(loop))).rejects.toThrow('too often')
  })

  it('is confirmed before each request, and is not sent when it was not', async () => {
    let seen = 0
    const url = await listen((_request, response) => {
      seen++
      response.writeHead(307, { location: '/next' }).end()
    })
    let confirmed = 0
    async function confirm(): Promise<void> {
      if (++confirmed > 2) throw new Error('not any more')
    }
    await expect(inside(delivery(url), confirm)).rejects.toThrow('not any more')
    expect(seen).toBe(2)
  })

  it('never goes to a private address: not directly, not by name, not by redirect', async () => {
    const url = await listen((_request, response) => response.writeHead(200).end())
    await expect(outside(delivery(url))).rejects.toThrow(TargetRefused)
    const port = portOf()
    await expect(outside(delivery(`http://localhost:${port}/`))).rejects.toThrow(TargetRefused)
    const looked = await new Promise((resolve) =>
      guardedLookup('localhost', {}, (error) => resolve(error)),
    )
    expect(looked).toBeInstanceOf(TargetRefused)
  })

  it.each([
    '10.1.2.3',
    '127.9.9.9',
    '169.254.169.254',
    '172.31.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:7f00:1',
    '::127.0.0.1',
    'fe80::1%lo',
    // Documentation, 6to4 relays.
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
    '2001:db8::1',
    '3fff::1',
    // An IPv4 address inside: NAT64, 6to4, Teredo.
    '64:ff9b::a00:1',
    '64:ff9b:1::a00:1',
    '2002:a00:1::1',
    '2001:0:a00:1::1',
    // Site-local, discarded.
    'fec0::1',
    '100::1',
    ...ownAddresses,
  ])('%s is private', (address) => expect(isInner(address)).toBe(true))

  it.each(['8.8.8.8', '172.32.0.1', '2001:4860:4860::8888', '::ffff:8.8.8.8'])(
    '%s is not',
    (address) => expect(isInner(address)).toBe(false),
  )
})
