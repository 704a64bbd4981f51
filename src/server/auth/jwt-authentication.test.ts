import { createSecretKey } from 'node:crypto'
import dns from 'node:dns'
import { createServer, type ServerResponse } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { beforeEach, describe, expect, it, type MockInstance, onTestFinished, vi } from 'vitest'
import type { Log } from '../../ports/log.ts'
import type { JwtConfig } from './auth-config.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { createJwtAuthentication, MOST_WAITING, PAUSE_MS } from './jwt-authentication.ts'

const issuer = 'https://issuer.example'
const audience = 'lull'
const now = Date.UTC(2026, 10, 16)

type Pair = Awaited<ReturnType<typeof generateKeyPair>>

let pairs: Map<string, Pair>
let fetched: string[]
beforeEach(async () => {
  pairs = new Map([['first', await generateKeyPair('ES256')]])
  fetched = []
})

/** The documents of the issuer: discovery and keys. */
async function answer(address: string): Promise<Response> {
  fetched.push(address)
  if (address.endsWith('/.well-known/openid-configuration')) {
    return Response.json({ issuer, jwks_uri: `${issuer}/keys` })
  }
  const keys = [...pairs].map(async ([kid, { publicKey }]) => ({
    ...(await exportJWK(publicKey)),
    kid,
    alg: 'ES256',
  }))
  return Response.json({ keys: await Promise.all(keys) })
}

function authentication(more: Partial<JwtConfig> = {}) {
  const deps = { now: () => now, log: () => undefined, fetch: answer }
  return createJwtAuthentication({ issuer, audience, ...more }, deps)
}

const claims: JWTPayload = { sub: 'ada', tenant: 'acme', scope: 'tasks:read profile ops:read' }

function token(payload: JWTPayload, kid: string, seconds: number, alg = 'ES256'): SignJWT {
  return new SignJWT({ aud: audience, iss: issuer, ...payload })
    .setProtectedHeader({ alg, kid })
    .setExpirationTime(Math.floor(now / 1_000) + seconds)
}

async function signed(payload: JWTPayload = claims, kid = 'first', seconds = 60): Promise<string> {
  const { privateKey } = pairs.get(kid) ?? (await generateKeyPair('ES256'))
  return token(payload, kid, seconds).sign(privateKey)
}

describe('a token', () => {
  it('makes an identity of its subject, tenant and known scopes', async () => {
    const identity = await authentication().identify(await signed())
    expect(identity).toEqual({
      tenant: 'acme',
      principal: 'ada',
      scopes: new Set(['tasks:read', 'ops:read']),
      expiresAt: now + 60_000,
    })
    expect(fetched).toEqual([`${issuer}/.well-known/openid-configuration`, `${issuer}/keys`])
  })

  it('is of the default tenant without a claim, and has no scope that it does not name', async () => {
    const identity = await authentication().identify(await signed({ sub: 'ada' }))
    expect(identity).toMatchObject({ tenant: 'default', principal: 'ada', scopes: new Set() })
  })

  it('may name its scopes as a list, and its tenant by another claim', async () => {
    const given = await signed({ sub: 'ada', org: 'acme', scp: ['tasks:read'] })
    const identity = await authentication({ tenantClaim: 'org' }).identify(given)
    expect(identity).toMatchObject({ tenant: 'acme', scopes: new Set(['tasks:read']) })
  })

  it.each<[string, JWTPayload]>([
    ['another audience', { ...claims, aud: 'other' }],
    ['another issuer', { ...claims, iss: 'https://evil.example' }],
    ['no subject', { tenant: 'acme' }],
    ['all tenants', { ...claims, tenant: '*' }],
    ['a tenant that is no text', { ...claims, tenant: ['acme'] }],
    ['a long subject', { ...claims, sub: 'x'.repeat(257) }],
  ])('is refused with %s', async (_, payload) => {
    expect(await authentication().identify(await signed(payload))).toBeUndefined()
  })

  it('ends when it expires, with room for clocks that differ', async () => {
    expect(await authentication().identify(await signed(claims, 'first', -20))).toBeDefined()
    expect(await authentication().identify(await signed(claims, 'first', -40))).toBeUndefined()
    const strict = authentication({ clockSkewSeconds: 0 })
    expect(await strict.identify(await signed(claims, 'first', -20))).toBeUndefined()
  })

  it('is refused without a signature, and with one made from the public key', async () => {
    const unsigned = [
      { alg: 'none' },
      { aud: audience, iss: issuer, exp: now / 1_000 + 60, ...claims },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    expect(await authentication().identify(`${unsigned}.`)).toBeUndefined()
    const { publicKey } = pairs.get('first') as Pair
    const secret = createSecretKey(Buffer.from(await exportSPKI(publicKey)))
    const confused = await token(claims, 'first', 60, 'HS256').sign(secret)
    expect(await authentication().identify(confused)).toBeUndefined()
  })

  it('is refused with an algorithm that is not configured', async () => {
    const onlyRsa = authentication({ algorithms: ['RS256'] })
    expect(await onlyRsa.identify(await signed())).toBeUndefined()
  })

  it.each(['other', '../../keys', "' OR 1=1", ''])(
    'is refused with the unknown key %j',
    async (kid) => {
      expect(await authentication().identify(await signed(claims, kid))).toBeUndefined()
    },
  )

  it('is not asked about at the issuer when it is no token', async () => {
    const tokens = authentication()
    for (const text of ['', 'a', 'a.b', 'a.b.c.d', 'lull_x_y']) {
      expect(await tokens.identify(text)).toBeUndefined()
    }
    expect(fetched).toEqual([])
  })

  it('is believed after the issuer changed its keys', async () => {
    const first = authentication()
    expect(await first.identify(await signed())).toBeDefined()
    pairs.set('second', await generateKeyPair('ES256'))
    // A process that knows only the old keys asks once more, when its pause has passed; another one asks at once.
    expect(await authentication().identify(await signed(claims, 'second'))).toBeDefined()
  })
})

type FakeLookup = (
  name: string,
  options: dns.LookupOptions,
  done: (error: null, addresses: readonly dns.LookupAddress[]) => void,
) => void

describe('documents of an issuer', () => {
  it.each(['https://127.0.0.1/keys', 'https://localhost/keys', 'https://[::1]/keys'])(
    'are not fetched from the private address %s',
    async (address) => {
      await expect(guardedFetch(false)(address)).rejects.toThrow('private address')
    },
  )

  it('are not fetched from a name that resolves to a private address', async () => {
    const lookup = vi.spyOn(dns, 'lookup') as unknown as MockInstance<FakeLookup>
    lookup.mockImplementation((_name, _options, done) =>
      done(null, [{ address: '10.0.0.1', family: 4 }]),
    )
    syncBuiltinESMExports()
    onTestFinished(() => {
      lookup.mockRestore()
      syncBuiltinESMExports()
    })
    const fetching = guardedFetch(false)('https://keys.example/keys')
    await expect(fetching).rejects.toThrow('keys.example resolves to 10.0.0.1, a private address')
  })

  it('are fetched by that rule when a token is checked, unless the issuer is said to be private', async () => {
    const reasons: string[] = []
    const log: Log = (_level, _text, facts) => reasons.push(String(facts?.['error']))
    const server = createServer(async (_request, response) => {
      response.end(await (await answer('/keys')).text())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
    const identify = async (issuerIsPrivate: boolean) => {
      const config = { issuer, audience, jwksUrl, issuerIsPrivate }
      const { identify } = createJwtAuthentication(config, { now: () => now, log })
      return identify(await signed())
    }
    expect(await identify(false)).toBeUndefined()
    expect(reasons.join()).toContain('127.0.0.1 is a private address')
    expect(fetched).toEqual([])
    expect(await identify(true)).toMatchObject({ principal: 'ada' })
    expect(fetched).toEqual(['/keys'])
  })

  it.each([
    ['never answers', () => undefined],
    [
      'begins an answer and never ends it',
      (response: ServerResponse) => void response.writeHead(200).write('{'),
    ],
  ])('are given up when the server %s', async (_, reply) => {
    const server = createServer((_request, response) => reply(response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
    await expect(guardedFetch(true, 20)(address)).rejects.toThrow()
  })

  it('let only so many tokens wait for them, and are not asked for again right after a failure', async () => {
    let asked = 0
    let later = 0
    let fail = () => undefined as unknown
    const fetch = () => {
      asked++
      return new Promise<Response>((_, reject) => {
        fail = () => reject(new Error('no answer'))
      })
    }
    const deps = { now: () => now + later, log: () => undefined, fetch }
    const tokens = createJwtAuthentication({ issuer, audience }, deps)
    const given = await signed()
    let refused = 0
    const all = Array.from({ length: MOST_WAITING + 50 }, async () => {
      expect(await tokens.identify(given)).toBeUndefined()
      refused++
    })
    await Promise.all(all.slice(MOST_WAITING))
    expect([asked, refused]).toEqual([1, 50])
    fail()
    await Promise.all(all)
    for (let n = 0; n < 10; n++) expect(await tokens.identify(given)).toBeUndefined()
    expect(asked).toBe(1)
    later = PAUSE_MS
    const again = tokens.identify(given)
    await expect.poll(() => asked).toBe(2)
    fail()
    expect(await again).toBeUndefined()
  })

  it('are not fetched without encryption', async () => {
    await expect(guardedFetch(false)('http://issuer.example/keys')).rejects.toThrow('https')
  })
})
