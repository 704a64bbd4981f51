/** What a Lull server signs, checked by `lull/client` and by the official library. */
import { generateKeyPairSync } from 'node:crypto'
import { verifyAgentCardSignature } from 'a2a-js-v1'
import { importJWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { agent } from '../engine/author/agent.ts'
import { createSigningKey } from '../protocols/a2a/cards/signing-key.ts'
import { createPushSigner } from '../protocols/a2a/push/signature.ts'
import { openTestServer, type TestServer } from '../protocols/a2a/test-support/test-server.ts'
import { createPushVerifier, verifyCard } from './signatures.ts'

const pem = () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string

const server = 'http://lull.test'
const worker = agent({ name: 'worker', description: 'Works', run: () => 'done' })

async function signing(key = pem()) {
  const config = { signCards: true }
  const security = { bearerKeys: true, bearer: { format: 'JWT', openIdUrl: 'https://id.test/' } }
  const testServer = await openTestServer({
    agents: [worker],
    a2a: { config, pushKey: key, security },
  })
  const fetch = async (url: string) => testServer.fetch('GET', new URL(url).pathname)
  return { testServer, fetch }
}

async function cardOf(testServer: TestServer, path = '/.well-known/agent-card.json') {
  const response = await testServer.fetch('GET', path, undefined, { 'a2a-version': '1.0' })
  return (await response.json()) as Record<string, unknown>
}

describe('a signed card', () => {
  it('is genuine for lull/client and for the official library, at every address', async () => {
    const { testServer, fetch } = await signing()
    for (const path of ['', '/agents/worker']) {
      const card = await cardOf(testServer, `${path}/.well-known/agent-card.json`)
      expect(await verifyCard(card, { server, fetch })).toMatchObject({ ok: true })
      const { keys } = (await (await fetch(`${server}/.well-known/jwks.json`)).json()) as {
        keys: { kid: string }[]
      }
      const find = async (kid: string, jku?: string) => {
        expect(jku).toBe(`${server}/.well-known/jwks.json`)
        return importJWK(keys.find((key) => key.kid === kid) ?? {}, 'ES256')
      }
      await verifyAgentCardSignature(find as never)(card as never)
    }
  })

  it('is not genuine after a change, without a signature, or with the key of another', async () => {
    const { testServer, fetch } = await signing()
    const card = await cardOf(testServer)
    const changed = { ...card, supportedInterfaces: [{ url: 'https://evil.test' }] }
    expect(await verifyCard(changed, { server, fetch })).toMatchObject({ ok: false })
    const { signatures: _signatures, ...bare } = card
    expect(await verifyCard(bare, { server, fetch })).toMatchObject({ ok: false })
    const other = await signing()
    expect(await verifyCard(card, { server, fetch: other.fetch })).toEqual({
      ok: false,
      problem: expect.stringContaining('unknown key'),
    })
  })

  it('does not choose its algorithm', async () => {
    const { testServer, fetch } = await signing()
    const card = await cardOf(testServer)
    const [signed] = card['signatures'] as [{ protected: string; signature: string }]
    const header = JSON.parse(Buffer.from(signed.protected, 'base64url').toString()) as object
    for (const alg of ['none', 'HS256', 'RS256']) {
      const forged = Buffer.from(JSON.stringify({ ...header, alg })).toString('base64url')
      const signatures = [{ protected: forged, signature: alg === 'none' ? '' : signed.signature }]
      expect(await verifyCard({ ...card, signatures }, { server, fetch })).toMatchObject({
        ok: false,
      })
    }
  })

  it('of 0.3 has no signature, because it has members that verifiers drop', async () => {
    const { testServer } = await signing()
    const card = await (await testServer.fetch('GET', '/.well-known/agent-card.json')).json()
    expect(card).not.toHaveProperty('signatures')
  })
})

describe('a delivery to a webhook', () => {
  const url = 'https://hooks.test/a'
  const body = '{"ünï":1}'
  const at = 1_800_000_000_000

  function delivered(given: { key?: string; issuer?: string; url?: string; body?: string } = {}) {
    const key = createSigningKey(given.key ?? pem())
    let ids = 0
    const signer = createPushSigner({
      key,
      issuer: given.issuer ?? server,
      now: () => at,
      uuid: () => `${ids++}`,
    })
    const sign = () =>
      signer.signed(new URL(given.url ?? url), {}, given.body ?? body)['x-lull-signature']
    let asked = 0
    const keys = [key.jwk]
    const fetch = async () => {
      asked++
      return Response.json({ keys })
    }
    let clock = at
    const verifier = createPushVerifier({ server, fetch, now: () => clock })
    const problem = async (signature: string | undefined) => {
      const result = await verifier.verify({ url, body, signature })
      return result.ok ? 'genuine' : result.problem
    }
    return {
      sign,
      problem,
      keys,
      asked: () => asked,
      pass: (ms: number) => {
        clock += ms
      },
    }
  }

  it('is genuine once, and only as long as a replay could be refused', async () => {
    const { sign, problem, pass, asked } = delivered()
    const first = sign()
    expect(await problem(first)).toBe('genuine')
    expect(await problem(first)).toBe('was seen before')
    expect(await problem(sign())).toBe('genuine')
    expect(asked()).toBe(1)
    const late = sign()
    pass(331_000)
    expect(await problem(late)).toBe('is too old')
    pass(-400_000)
    expect(await problem(sign())).toBe('is from the future')
  })

  it('is refused for another address, another body, another server, and without a signature', async () => {
    for (const [given, why] of [
      [{ url: 'https://hooks.test/b' }, 'is for another address'],
      [{ body: '{}' }, 'is for another body'],
      [{ issuer: 'https://evil.test' }, 'is not from this server'],
    ] as const) {
      const { sign, problem } = delivered(given)
      expect(await problem(sign())).toBe(why)
    }
    const { problem, sign } = delivered()
    expect(await problem(undefined)).toBe('has no signature')
    const [header, claims] = (sign() ?? '').split('.')
    expect(await problem(`${header}.${claims}.`)).toContain('not base64url')
    expect(await problem(`${header}.${claims}.AAAA`)).toBe('has a wrong signature')
  })

  it('is genuine with a key that the server got since, which is asked for at most every 30 s', async () => {
    const { sign, problem, keys, asked, pass } = delivered()
    const [current] = keys.splice(0)
    expect(await problem(sign())).toContain('unknown key')
    expect(await problem(sign())).toContain('unknown key')
    expect(asked()).toBe(1)
    if (current !== undefined) keys.push(current)
    pass(31_000)
    expect(await problem(sign())).toBe('genuine')
  })
})
