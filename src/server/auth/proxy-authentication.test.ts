import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, type ServeOptions, startServer } from '../serve.ts'
import type { AuthRequest } from './authenticate.ts'
import { createProxyAuthentication } from './proxy-authentication.ts'

const config = {
  addresses: ['10.0.0.7', '10.1.0.0/16', '2001:db8::/64'],
  principalHeader: 'X-Client-Subject',
  tenant: 'acme',
  scopes: ['tasks:read'],
} as const

function asked(
  peer: string | undefined,
  values: Readonly<Record<string, readonly string[]>>,
): AuthRequest {
  const all = (name: string) => values[name] ?? []
  return { method: 'GET', path: '/', peer, all, header: (name) => all(name)[0] }
}

const subject = { 'x-client-subject': ['CN=ada,O=acme'] }
const ada = { tenant: 'acme', principal: 'CN=ada,O=acme', scopes: new Set(['tasks:read']) }

describe('a header with the subject of a certificate', () => {
  it.each(['10.0.0.7', '10.1.2.3', '::ffff:10.0.0.7', '2001:db8::1'])('counts from %s', (peer) => {
    expect(createProxyAuthentication(config)(asked(peer, subject))).toEqual(ada)
  })

  it.each(['10.0.0.8', '127.0.0.1', '::1', '2001:db8:1::1', '::ffff:10.0.0.8', 'x', undefined])(
    'does not count from %s',
    (peer) => {
      expect(createProxyAuthentication(config)(asked(peer, subject))).toBeUndefined()
    },
  )

  it.each([
    ['twice', { 'x-client-subject': ['CN=eve', 'CN=ada'] }],
    ['empty', { 'x-client-subject': [''] }],
    ['too long', { 'x-client-subject': ['x'.repeat(257)] }],
    ['absent', {}],
    ['with a token beside it', { ...subject, authorization: ['Bearer x'] }],
  ])('does not count when it is %s', (_, values) => {
    expect(createProxyAuthentication(config)(asked('10.0.0.7', values))).toBeUndefined()
  })

  it('may come with the tenant, but not with that of the operators of all', () => {
    const named = createProxyAuthentication({ ...config, tenantHeader: 'x-tenant' })
    const from = (tenant: string) => named(asked('10.0.0.7', { ...subject, 'x-tenant': [tenant] }))
    expect(from('north')).toMatchObject({ tenant: 'north' })
    expect(from('*')).toBeUndefined()
    expect(named(asked('10.0.0.7', subject))).toBeUndefined()
  })

  const wrong = ['nowhere', '10.0.0.0/40', '10.0.0.0/x', '10.0.0.7/', '10.0.0.7/ ', '10.0.0.7/8/8']
  it.each([...wrong, '10.0.0.7/0x8', '10.0.0.7/-0', '::1/'])(
    'is not configured for %s',
    (address) => {
      expect(() => createProxyAuthentication({ ...config, addresses: [address] })).toThrow(address)
    },
  )
})

describe('on a server', () => {
  let serving: RunningServer
  let data: string
  afterEach(async () => {
    await serving.close()
    rmSync(data, { recursive: true })
  })

  async function open(auth: ServeOptions['auth']): Promise<void> {
    data = mkdtempSync(join(tmpdir(), 'lull-proxy-'))
    const agents = [createScriptAgent()]
    serving = await startServer({
      agents,
      port: 0,
      data,
      store: 'memory',
      auth,
      log: () => undefined,
    })
  }

  function status(
    headers: Readonly<Record<string, string | string[]>>,
  ): Promise<number | undefined> {
    const { hostname, port } = new URL(serving.url)
    return new Promise((resolve, reject) => {
      request(
        { hostname, port, path: '/tasks', headers: { 'a2a-version': '1.0', ...headers } },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      )
        .on('error', reject)
        .end()
    })
  }

  it('identifies callers, is on the cards, and refuses everybody else', async () => {
    await open({ proxy: { ...config, addresses: ['127.0.0.1'] } })
    expect(await status({ 'x-client-subject': 'CN=ada' })).toBe(200)
    expect(await status({ 'x-client-subject': ['CN=eve', 'CN=ada'] })).toBe(401)
    expect(await status({})).toBe(401)
    const address = `${serving.url}/.well-known/agent-card.json`
    const card = async (version: string) =>
      (await fetch(address, { headers: { 'a2a-version': version } })).text()
    expect(await card('1.0')).toContain('"mtls":{"mtlsSecurityScheme":{}}')
    expect(await card('0.3')).toContain('"mtls":{"type":"mutualTLS"}')
  })

  it('says nothing when it is not configured, or comes from elsewhere', async () => {
    await open({ modes: ['keys'] })
    expect(await status({ 'x-client-subject': 'CN=ada' })).toBe(401)
    await serving.close()
    await open({ proxy: config })
    expect(await status({ 'x-client-subject': 'CN=ada' })).toBe(401)
  })

  it('has cards of both versions that name the issuer of tokens', async () => {
    await open({ modes: ['jwt'], jwt: { issuer: 'https://id.example', audience: 'lull' } })
    const address = `${serving.url}/.well-known/agent-card.json`
    const url = 'https://id.example/.well-known/openid-configuration'
    const card = async (version: string) =>
      (await (await fetch(address, { headers: { 'a2a-version': version } })).json()) as object
    expect(await card('1.0')).toMatchObject({
      securitySchemes: { bearer: { openIdConnectSecurityScheme: { openIdConnectUrl: url } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    })
    expect(await card('0.3')).toMatchObject({
      securitySchemes: { bearer: { type: 'openIdConnect', openIdConnectUrl: url } },
      security: [{ bearer: [] }],
    })
  })

  it('asks the function of the embedder when no key and no token fits', async () => {
    data = mkdtempSync(join(tmpdir(), 'lull-proxy-'))
    serving = await startServer({
      agents: [createScriptAgent()],
      port: 0,
      data,
      store: 'memory',
      log: () => undefined,
      authenticate: ({ header, peer }) =>
        header('x-ticket') === 'good' && peer === '127.0.0.1'
          ? { tenant: 'acme', principal: 'ada', scopes: ['tasks:read'] }
          : undefined,
    })
    expect(await status({ 'x-ticket': 'good' })).toBe(200)
    expect(await status({ 'x-ticket': 'bad' })).toBe(401)
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'CancelTask',
      params: { id: 'x' },
    })
    const headers = { 'x-ticket': 'good', 'content-type': 'application/json', 'a2a-version': '1.0' }
    expect((await fetch(serving.url, { method: 'POST', headers, body })).status).toBe(403)
  })
})
