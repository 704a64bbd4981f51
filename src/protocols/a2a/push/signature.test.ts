import { generateKeyPairSync, webcrypto } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type Loose,
  openTestServer,
  scripted,
  type TestServer,
} from '../test-support/test-server.ts'

const pem = (namedCurve: string): string => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

interface Got {
  readonly path: string
  readonly headers: Loose
  readonly body: string
}

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function receiver(count: number): Promise<{ url: string; all: Promise<Got[]> }> {
  const got: Got[] = []
  let complete: (all: Got[]) => void = () => undefined
  const all = new Promise<Got[]>((resolve) => {
    complete = resolve
  })
  server = createServer(async (request, response) => {
    const { url: path = '', headers } = request
    if (path === '/moved') {
      request.resume()
      response.writeHead(307, { location: '/here' }).end()
      return
    }
    got.push({ path, headers, body: (await request.toArray()).join('') })
    response.writeHead(204).end()
    if (got.length === count) complete(got)
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, all }
}

const config = { pushSign: true, pushToPrivate: true }
const signing = (): Promise<TestServer> =>
  openTestServer({ a2a: { config, pushKey: pem('P-256') } })

async function send(testServer: TestServer, target: object): Promise<void> {
  const message = scripted('1.0', [{ complete: 'ünïcode' }])
  const configuration = { taskPushNotificationConfig: target }
  await testServer.ok('1.0', 'SendMessage', { message, configuration })
}

const jwksOf = async (testServer: TestServer): Promise<Loose> =>
  (await testServer.fetch('GET', '/.well-known/jwks.json')).json()

const json = (base64: string): Loose => JSON.parse(Buffer.from(base64, 'base64url').toString())

/** Verifies as a receiver does: with the published key, by another implementation than the signing one. */
async function claimsOf(jwks: Loose, token: string, body: string): Promise<Loose> {
  const { subtle } = webcrypto
  const [header = '', claims = '', signature = ''] = token.split('.')
  const jwk = jwks.keys.find(({ kid }: Loose) => kid === json(header).kid)
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' }
  const key = await subtle.importKey('jwk', jwk, ecdsa, false, ['verify'])
  const text = Buffer.from(`${header}.${claims}`)
  const proof = Buffer.from(signature, 'base64url')
  const valid = await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, proof, text)
  if (!valid) throw new Error('the signature does not hold')
  const hash = Buffer.from(await subtle.digest('SHA-256', Buffer.from(body))).toString('hex')
  if (json(claims).request_body_sha256 !== hash) throw new Error('the body is another one')
  return json(claims)
}

describe('signed deliveries', () => {
  it('are verified with the published key, body by body', async () => {
    const testServer = await signing()
    const { url, all } = await receiver(4)
    await send(testServer, { url: `${url}/hook` })
    const got = await all
    const jwks = await jwksOf(testServer)
    const iat = Math.floor(testServer.clock.now() / 1_000)
    const seen = new Set<string>()
    for (const { headers, body } of got) {
      const token = headers['x-lull-signature']
      expect(headers.authorization).toBe(`Bearer ${token}`)
      const claims = await claimsOf(jwks, token, body)
      const expected = { iss: 'http://lull.test', aud: `${url}/hook`, iat, exp: iat + 300 }
      expect(claims).toMatchObject(expected)
      seen.add(claims.jti)
    }
    expect(seen.size).toBe(4)
  })

  it('do not verify with another body, another claim or another key', async () => {
    const testServer = await signing()
    const { url, all } = await receiver(3)
    await send(testServer, { url })
    const [first] = await all
    const { headers, body = '' } = first ?? {}
    const token: string = headers['x-lull-signature']
    const jwks = await jwksOf(testServer)
    await expect(claimsOf(jwks, token, body)).resolves.toBeDefined()
    await expect(claimsOf(jwks, token, `${body} `)).rejects.toThrow('another one')
    const [header, claims = '', signature] = token.split('.')
    const forged = Buffer.from(JSON.stringify({ ...json(claims), aud: 'x' })).toString('base64url')
    const changed = [header, forged, signature].join('.')
    await expect(claimsOf(jwks, changed, body)).rejects.toThrow('does not hold')
    const { kid } = jwks.keys[0]
    const other = await jwksOf(await signing())
    const named = { keys: [{ ...other.keys[0], kid }] }
    await expect(claimsOf(named, token, body)).rejects.toThrow('does not hold')
  })

  it("leave the receiver's own credentials where they are", async () => {
    const testServer = await signing()
    const { url, all } = await receiver(3)
    await send(testServer, { url, authentication: { scheme: 'Bearer', credentials: 'theirs' } })
    const [first] = await all
    expect(first?.headers.authorization).toBe('Bearer theirs')
    const token = first?.headers['x-lull-signature']
    await expect(
      claimsOf(await jwksOf(testServer), token, first?.body ?? ''),
    ).resolves.toBeDefined()
  })

  it('name the address a redirect leads to', async () => {
    const testServer = await signing()
    const { url, all } = await receiver(3)
    await send(testServer, { url: `${url}/moved` })
    const [first] = await all
    const token = first?.headers['x-lull-signature']
    const claims = await claimsOf(await jwksOf(testServer), token, first?.body ?? '')
    expect(claims.aud).toBe(`${url}/here`)
  })

  it('publish nothing secret, and only what RFC 7517 wants', async () => {
    const { keys } = await jwksOf(await signing())
    expect(keys).toEqual([
      {
        kty: 'EC',
        crv: 'P-256',
        x: expect.stringMatching(/^[\w-]{43}$/),
        y: expect.stringMatching(/^[\w-]{43}$/),
        kid: expect.stringMatching(/^[\w-]{43}$/),
        alg: 'ES256',
        use: 'sig',
      },
    ])
  })

  it('are off by default: no header, no keys', async () => {
    const testServer = await openTestServer({ a2a: { config: { pushToPrivate: true } } })
    const { url, all } = await receiver(3)
    await send(testServer, { url })
    const [first] = await all
    expect(first?.headers['x-lull-signature']).toBeUndefined()
    expect(first?.headers.authorization).toBeUndefined()
    const asked = new Request('http://lull.test/.well-known/jwks.json')
    expect(await testServer.raw(asked)).toBeUndefined()
  })

  it.each([
    ['no key', {}],
    ['what is no key', { pushKey: 'nope' }],
    ['a key of another curve', { pushKey: pem('P-384') }],
  ])('are refused with %s', async (_what, some) => {
    await expect(openTestServer({ a2a: { config, ...some } })).rejects.toThrow('P-256')
  })
})
