/** An OpenID Connect provider whose answers a test can spoil. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'

export interface FakeIssuer {
  readonly issuer: string
  /** Claims of the next person, and what is wrong with the next token. */
  claims: JWTPayload
  algorithm: 'ES256' | 'none'
  foreignKey: boolean
  down: boolean
  /** What the browser of a person who agrees is sent back with. @param location of the sign-in */
  approve(location: string): URL
}

interface Asked {
  readonly nonce: string
  readonly challenge: string
}

export async function startFakeIssuer(): Promise<FakeIssuer> {
  const [own, foreign] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
  const codes = new Map<string, Asked>()
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fake: FakeIssuer = {
    issuer,
    claims: { sub: 'ann', groups: ['operators'] },
    algorithm: 'ES256',
    foreignKey: false,
    down: false,
    approve(location) {
      const { searchParams } = new URL(location)
      const of = (name: string): string => searchParams.get(name) ?? ''
      if (of('code_challenge_method') !== 'S256') throw new Error('PKCE is missing')
      const code = crypto.randomUUID()
      codes.set(code, { nonce: of('nonce'), challenge: of('code_challenge') })
      const back = new URL(of('redirect_uri'))
      back.search = new URLSearchParams({ code, state: of('state'), iss: issuer }).toString()
      return back
    },
  }

  const documents: Readonly<Record<string, () => Promise<object>>> = {
    '/.well-known/openid-configuration': async () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
    }),
    '/keys': async () => ({
      keys: [{ ...(await exportJWK(own.publicKey)), alg: 'ES256', kid: '1' }],
    }),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (fake.down) return send(503, {})
    if (request.url !== '/token') {
      const make = documents[request.url ?? '']
      return make === undefined ? send(404, {}) : send(200, await make())
    }
    const given = new URLSearchParams(await text(request))
    const asked = codes.get(given.get('code') ?? '')
    codes.delete(given.get('code') ?? '')
    const verifier = given.get('code_verifier') ?? ''
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    if (asked?.challenge !== challenge) return send(400, { error: 'invalid_grant' })
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: issuer, aud: 'lull', iat: now, exp: now + 60, nonce: asked.nonce }
    const body = { token_type: 'Bearer', access_token: 'not used', expires_in: 60 }
    send(200, { ...body, id_token: await tokenOf({ ...claims, ...fake.claims }) })
  }

  async function tokenOf(claims: JWTPayload): Promise<string> {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    if (fake.algorithm === 'none') return `${part({ alg: 'none' })}.${part(claims)}.`
    const { privateKey } = fake.foreignKey ? foreign : own
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: '1' }).sign(privateKey)
  }

  return fake
}
