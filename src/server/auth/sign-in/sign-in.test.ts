/**
 * Sign-in over real sockets: the server, the provider, and a browser that is only its cookies. The numbers are those of
 * `granted-identity.ts` (G) and `sessions.ts` (C).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Json } from '../../../core/values/json.ts'
import { type RunningServer, serve } from '../../serve.ts'
import { type FakeIssuer, startFakeIssuer } from '../../test-support/fake-issuer.ts'
import { waiter } from '../../test-support/open-app.ts'
import type { OidcConfig } from '../auth-config.ts'

interface Answer {
  readonly status: number
  readonly location: string
  readonly cookies: readonly string[]
  readonly body: string
  readonly headers: Readonly<Record<string, unknown>>
}

type Headers = Readonly<Record<string, string>>

/** A plain request, because `fetch` may set neither `Cookie` nor `Host`. */
function ask(url: string, headers: Headers = {}, method = 'GET', body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          location: response.headers.location ?? '',
          cookies: response.headers['set-cookie'] ?? [],
          body: text,
          headers: response.headers,
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const grants = [
  { claim: 'groups', value: 'operators', scopes: ['ops:read', 'ops:control', 'tasks:read'] },
  { claim: 'groups', value: 'readers', scopes: ['ops:read'] },
] as const

interface Site {
  readonly server: RunningServer
  readonly issuer: FakeIssuer
  readonly logged: readonly string[]
}

async function site(some: Partial<OidcConfig> = {}): Promise<Site> {
  const issuer = await startFakeIssuer()
  const data = mkdtempSync(join(tmpdir(), 'lull-sign-in-'))
  const logged: string[] = []
  const server = await serve({
    agents: [waiter],
    port: 0,
    data,
    store: 'memory',
    quiet: true,
    signals: false,
    log: (_, text, facts) => logged.push(`${text} ${JSON.stringify(facts)}`),
    auth: {
      oidc: {
        issuer: issuer.issuer,
        clientId: 'lull',
        tenant: 'acme',
        grants,
        issuerIsPrivate: true,
        ...some,
      },
    },
  })
  onTestFinished(async () => {
    await server.close()
    rmSync(data, { recursive: true })
  })
  return { server, issuer, logged }
}

const pairOf = (cookies: readonly string[], name: string): string =>
  cookies.find((one) => one.startsWith(`${name}=`))?.split(';')[0] ?? ''

async function begin({ server }: Site, query = ''): Promise<{ location: string; cookie: string }> {
  const { status, location, cookies } = await ask(`${server.url}/auth/login${query}`)
  expect(status).toBe(302)
  return { location, cookie: pairOf(cookies, 'lull-login') }
}

/** Signs in. @returns the cookie of the session */
async function signedIn(at: Site): Promise<string> {
  const { location, cookie } = await begin(at)
  const back = await ask(at.issuer.approve(location).href, { cookie })
  expect([back.status, back.body]).toEqual([302, ''])
  return pairOf(back.cookies, 'lull-session')
}

const json = (body: string): Json => JSON.parse(body) as Json

it('signs a person in, with the rights of the grants that match, and out again', async () => {
  const at = await site()
  const { url } = at.server
  expect((await ask(`${url}/ops/tasks`)).status).toBe(401)
  expect(json((await ask(`${url}/auth/session`)).body)).toEqual({ signIn: true })
  const { location, cookie } = await begin(at, '?returnTo=/dashboard/tasks')
  const back = await ask(at.issuer.approve(location).href, { cookie })
  expect([back.status, back.location]).toEqual([302, '/dashboard/tasks'])
  const session = back.cookies.find((one) => one.startsWith('lull-session='))
  expect(session).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
  expect(back.cookies.find((one) => one.startsWith('lull-login='))).toContain('Max-Age=0')
  const mine = { cookie: pairOf(back.cookies, 'lull-session') }
  expect((await ask(`${url}/ops/tasks`, mine)).status).toBe(200)
  expect(json((await ask(`${url}/auth/session`, mine)).body)).toEqual({
    signIn: true,
    tenant: 'acme',
    principal: 'ann',
  })
  const origin = new URL(url).origin
  const out = await ask(`${url}/auth/logout`, { ...mine, origin }, 'POST')
  expect([out.status, out.cookies]).toEqual([204, [expect.stringContaining('Max-Age=0')]])
  // A copy of the cookie has ended, too.
  expect((await ask(`${url}/ops/tasks`, mine)).status).toBe(401)
})

it('takes the tenant from a claim, and several grants together', async () => {
  const at = await site({ tenant: undefined, tenantClaim: 'org' })
  at.issuer.claims = { sub: 'bob', groups: ['readers'], org: 'beta' }
  const cookie = await signedIn(at)
  const me = json((await ask(`${at.server.url}/ops/me`, { cookie })).body)
  expect(me).toMatchObject({ tenant: 'beta', principal: 'bob', scopes: ['ops:read'] })
})

it.each([
  ['is in no group', { sub: 'eve', groups: ['others'] }],
  ['has no groups', { sub: 'eve' }],
  ['has a group that only begins like one', { sub: 'eve', groups: ['operators2'] }],
  ['has no tenant', { sub: 'eve', groups: ['operators'] }],
  ['claims every tenant', { sub: 'eve', groups: ['operators'], tenant: '*' }],
  ['claims a name of the language', { sub: 'eve', constructor: 'operators' }],
])('G1, G2: refuses who %s', async (_, claims) => {
  const at = await site({ tenant: undefined })
  at.issuer.claims = claims
  const { location, cookie } = await begin(at)
  const back = await ask(at.issuer.approve(location).href, { cookie })
  expect(back.status).toBe(403)
  expect(back.body).toContain('nothing here is open to you')
  expect(pairOf(back.cookies, 'lull-session')).toBe('')
})

it.each([
  ['a nonce of another sign-in', { nonce: 'of another' }],
  ['another audience', { aud: 'another' }],
  ['another issuer', { iss: 'https://evil.example' }],
  ['a time that is over', { exp: 1_000 }],
])('refuses a token with %s', async (_, claims) => {
  const at = await site()
  Object.assign(at.issuer, { claims: { ...at.issuer.claims, ...claims } })
  await expectRefused(at)
})

it.each([
  ['without a signature', { algorithm: 'none' }],
  ['signed with another key', { foreignKey: true }],
])('refuses a token %s', async (_, spoilt) => {
  const at = await site()
  Object.assign(at.issuer, spoilt)
  await expectRefused(at)
})

async function expectRefused(at: Site): Promise<void> {
  const { location, cookie } = await begin(at)
  const back = await ask(at.issuer.approve(location).href, { cookie })
  expect([back.status, back.cookies]).toEqual([400, []])
  expect(back.body).toContain('did not confirm this sign-in')
}

it('refuses a state that is replayed, of another browser, or changed', async () => {
  const at = await site()
  const first = await begin(at)
  const url = at.issuer.approve(first.location).href
  expect((await ask(url)).status).toBe(400)
  const other = await begin(at)
  expect((await ask(url, { cookie: other.cookie })).status).toBe(400)
  expect((await ask(`${url}x`, { cookie: first.cookie })).status).toBe(400)
  expect((await ask(url, { cookie: `${first.cookie.slice(0, -2)}AA` })).status).toBe(400)
  expect((await ask(url, first)).status).toBe(302)
  // The provider takes the code once.
  expect((await ask(url, first)).status).toBe(400)
})

it('refuses a code that was stolen and put into the sign-in of another browser', async () => {
  const at = await site()
  const [ann, eve] = [await begin(at), await begin(at)]
  const stolen = at.issuer.approve(ann.location).searchParams.get('code') ?? ''
  const forged = at.issuer.approve(eve.location)
  forged.searchParams.set('code', stolen)
  const back = await ask(forged.href, { cookie: eve.cookie })
  expect([back.status, back.cookies]).toEqual([400, []])
})

it('gives every sign-in a session of its own, whatever cookie the browser had before', async () => {
  const at = await site()
  const { location, cookie } = await begin(at)
  const planted = `${cookie}; lull-session=planted-by-eve`
  const back = await ask(at.issuer.approve(location).href, { cookie: planted })
  const first = pairOf(back.cookies, 'lull-session')
  expect(first).not.toContain('planted')
  expect(await signedIn(at)).not.toBe(first)
})

it.each([
  'https://evil.example/',
  '//evil.example/dashboard/',
  '/\\evil.example/dashboard',
  '/dashboard/../../auth/logout',
  '/dashboard.evil.example/',
  '/dashboard@evil.example/',
  'javascript:alert(1)',
  '/ops/tasks',
  '',
])('sends nobody from a sign-in to %s', async (target) => {
  const at = await site()
  const { location, cookie } = await begin(at, `?returnTo=${encodeURIComponent(target)}`)
  const back = await ask(at.issuer.approve(location).href, { cookie })
  expect([back.status, back.location]).toEqual([302, '/dashboard/'])
})

it('takes no cookie that was changed, or sealed for another purpose or configuration', async () => {
  const at = await site()
  const { url } = at.server
  const cookie = await signedIn(at)
  const parts = cookie.split('.')
  const flipped = parts.map((part, index) => (index === 3 ? `A${part.slice(1)}B` : part)).join('.')
  const login = (await begin(at)).cookie.replace('lull-login=', 'lull-session=')
  const other = await signedIn(await site())
  for (const wrong of [flipped, login, other, 'lull-session=', 'lull-session=a.b.c.d.e']) {
    expect((await ask(`${url}/ops/tasks`, { cookie: wrong })).status).toBe(401)
  }
  expect((await ask(`${url}/ops/tasks`, { cookie })).status).toBe(200)
})

it('C2: lets no page of another origin write, read or open a socket with the session', async () => {
  const at = await site()
  const { url } = at.server
  const cookie = await signedIn(at)
  const body = JSON.stringify({ scope: { all: true }, reason: 'forged' })
  const hold = (headers: Headers) => ask(`${url}/ops/holds`, { cookie, ...headers }, 'POST', body)
  expect((await hold({ origin: 'https://evil.example' })).status).toBe(403)
  // A form of another page has no Origin in some browsers, and `null` in a sandbox.
  expect((await hold({})).status).toBe(401)
  expect((await hold({ origin: 'null' })).status).toBe(403)
  expect((await hold({ origin: url, 'sec-fetch-site': 'same-site' })).status).toBe(401)
  const read = (site: string) => ask(`${url}/ops/tasks`, { cookie, 'sec-fetch-site': site })
  expect((await read('cross-site')).status).toBe(401)
  const upgrade = { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-version': '13' }
  const key = { 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }
  expect((await ask(`${url}/acp`, { cookie, ...upgrade, ...key })).status).toBe(401)
  expect((await hold({ origin: url })).status).toBe(200)
})

it('says that the provider is down, and signs in when it is back', async () => {
  const at = await site()
  at.issuer.down = true
  const refused = await ask(`${at.server.url}/auth/login`)
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
  expect(refused.body).toContain('answers with HTTP 503')
  at.issuer.down = false
  const { location, cookie } = await begin(at)
  const back = at.issuer.approve(location).href
  at.issuer.down = true
  expect((await ask(back, { cookie })).status).toBe(503)
  at.issuer.down = false
  await signedIn(at)
})

it('passes on that the person refused, without what the provider wrote', async () => {
  const at = await site()
  const { location, cookie } = await begin(at)
  const back = at.issuer.approve(location)
  back.searchParams.delete('code')
  back.searchParams.set('error', 'access_denied')
  back.searchParams.set('error_description', '<script>alert(1)</script>')
  const answer = await ask(back.href, { cookie })
  expect(answer.status).toBe(400)
  expect(answer.body).not.toContain('alert(1)')
})

it('records sign-ins and sign-outs, and logs neither codes nor cookies', async () => {
  const at = await site()
  const { url } = at.server
  const cookie = await signedIn(at)
  await ask(`${url}/auth/logout`, { cookie, origin: new URL(url).origin }, 'POST')
  await expectRefusedOnce(at)
  const again = await signedIn(at)
  const { body } = await ask(`${url}/ops/audit`, { cookie: again })
  expect(body).toContain('"action":"session.begin"')
  expect(body).toContain('"action":"session.end"')
  const secret = again.slice('lull-session='.length)
  for (const text of [...at.logged, body]) expect(text).not.toContain(secret)
})

async function expectRefusedOnce(at: Site): Promise<void> {
  at.issuer.algorithm = 'none'
  await expectRefused(at)
  at.issuer.algorithm = 'ES256'
}

it('does not start where cookies would be sent in clear text, or with scopes that * cannot have', async () => {
  const oidc: OidcConfig = {
    issuer: 'https://issuer.example',
    clientId: 'lull',
    grants: [...grants],
  }
  const start = (auth: { oidc: OidcConfig }, publicUrl: string) =>
    serve({
      agents: [waiter],
      store: 'memory',
      port: 0,
      quiet: true,
      signals: false,
      auth,
      publicUrl,
      log: () => undefined,
    })
  const clear = start({ oidc: { ...oidc, tenant: 'acme' } }, 'http://agents.example.com')
  await expect(clear).rejects.toThrow('Sign-in needs HTTPS')
  const star = start({ oidc: { ...oidc, tenant: '*' } }, 'http://127.0.0.1')
  await expect(star).rejects.toMatchObject({ details: { path: 'auth.oidc.grants' } })
})
