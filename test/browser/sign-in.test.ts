/**
 * Sign-in with a real OpenID Connect provider in a real browser. The provider is `localhost` and the
 * server `127.0.0.1`, so they are different sites for the browser and its cookies.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Provider from 'oidc-provider'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { type LullProcess, lull, serving } from '../scenarios/lull-process.ts'
import { barriersOn, looks } from './browser.ts'
import { visitsTo } from './visits.ts'

let home: string
let server: LullProcess & { readonly url: string }
let provider: Server
let providerUrl: string
const { visit, allowFault } = visitsTo(() => server.url)

const clientSecret = 'a secret of the test'

/** Whoever signs in as `ann` is an operator; everybody else is in no group. */
async function startProvider(redirectUri: string): Promise<void> {
  const port = await freePort()
  providerUrl = `http://localhost:${port}`
  // It warns that its signing keys and its pages are for development.
  for (const method of ['warn', 'info'] as const) {
    vi.spyOn(console, method).mockReturnValue(undefined)
  }
  const oidc = new Provider(providerUrl, {
    clients: [
      {
        client_id: 'lull',
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    claims: { openid: ['sub', 'groups'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['for tests'] },
    async findAccount(_: unknown, sub: string) {
      const groups = sub === 'ann' ? ['operators'] : []
      return { accountId: sub, claims: async () => ({ sub, groups }) }
    },
  })
  provider = createServer(oidc.callback()).listen(port, '127.0.0.1')
  await once(provider, 'listening')
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'lull-sign-in-'))
  const port = await freePort()
  await startProvider(`http://127.0.0.1:${port}/auth/callback`)
  const config = join(home, 'lull.json')
  const grants = [{ claim: 'groups', value: 'operators', scopes: ['ops:read', 'ops:control'] }]
  const oidc = {
    issuer: providerUrl,
    clientId: 'lull',
    tenant: 'acme',
    grants,
    issuerIsPrivate: true,
  }
  writeFileSync(config, JSON.stringify({ auth: { modes: ['keys'], oidc } }))
  const args = ['serve', '--script', '--port', `${port}`, '--data', join(home, 'data')]
  server = await serving([...args, '--config', config], { LULL_OIDC_SECRET: clientSecret })
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.ended
  provider.closeAllConnections()
  provider.close()
  vi.restoreAllMocks()
  rmSync(home, { recursive: true })
})

/** Types the name into the page of the provider, and agrees. */
async function agreeAs(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: 'Go on with your organisation' }).click()
  await page.getByPlaceholder('Enter any login').fill(name)
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** A visit in which the first answers are 401 and 403, and the provider is another host. */
async function visitToSignIn(path = ''): Promise<Page> {
  allowFault(/401|403/)
  allowFault(/^asked http:\/\/localhost:/)
  // The page of the provider asks for fonts of another host.
  allowFault(/fonts|ERR_FAILED/)
  const page = await visit(path)
  await page.context().route(/fonts/, (route) => route.abort())
  return page
}

it('signs in, comes back to the page, acts, and signs out in every tab', async () => {
  const page = await visitToSignIn('operations')
  await page.getByLabel('API key').waitFor()
  await agreeAs(page, 'ann')
  await page.waitForURL(`${server.url}/dashboard/operations`)
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  await page.getByText('ann', { exact: true }).first().waitFor()
  const [cookie] = (await page.context().cookies()).filter(({ name }) => name === 'lull-session')
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', domain: '127.0.0.1' })
  expect(await page.evaluate('document.cookie')).toBe('')
  expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).toBe('{}')

  // A write of the page is taken; the same write of a page of the provider is not.
  await page.getByRole('button', { name: 'Hold', exact: true }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Hold' })
  await dialog.getByLabel('Reason').fill('signed in')
  await dialog.getByRole('button', { name: 'Hold' }).click()
  await page.getByText('signed in').first().waitFor()
  const other = await page.context().newPage()
  await other.goto(`${providerUrl}/.well-known/openid-configuration`)
  const forged = await other.evaluate(async (url) => {
    const body = JSON.stringify({ scope: { all: true }, reason: 'forged' })
    const sent = { method: 'POST', credentials: 'include', mode: 'no-cors', body } as const
    await fetch(`${url}/ops/holds`, sent)
    return fetch(`${url}/ops/holds`, { credentials: 'include' }).then(
      () => 'read',
      () => 'refused',
    )
  }, server.url)
  expect(forged).toBe('refused')
  const holds = await page.evaluate<string>("fetch('/ops/holds').then((one) => one.text())")
  expect(holds).toContain('signed in')
  expect(holds).not.toContain('forged')

  await page.reload()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  await page.goto(`${server.url}/dashboard/`)
  await page.getByRole('link', { name: 'Go on with your organisation' }).waitFor()
})

it('asks again when the session was ended elsewhere', async () => {
  const page = await visitToSignIn('operations')
  await agreeAs(page, 'ann')
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  const other = await page.context().newPage()
  await other.goto(`${server.url}/dashboard/`)
  await other.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Go on with your organisation' }).waitFor()
})

it('tells a person without rights, and gives no session', async () => {
  const page = await visitToSignIn()
  await agreeAs(page, 'bob')
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
  await page.getByText('nothing here is open to you').waitFor()
  expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('lull-session')
  await page.getByRole('link', { name: 'Back to the dashboard' }).click()
  await page.getByLabel('API key').waitFor()
})

it('asks for scopes that work', async () => {
  allowFault(/401/)
  const page = await visit('operations')
  await page.getByText('No key yet?').click()
  const command = (await page.locator('pre').textContent()) ?? ''
  const words = command.trim().split(/\s+/).slice(1)
  const minted = await lull([...words, '--data', join(home, 'data')]).ended
  expect(minted.code, minted.err).toBe(0)
  await page.getByLabel('API key').fill(minted.out)
  await page.getByRole('button', { name: 'Sign in with the key' }).click()
  const hold = page.getByRole('button', { name: 'Hold', exact: true }).first()
  await hold.waitFor()
  expect(await hold.getAttribute('aria-disabled')).not.toBe('true')
  expect(await hold.isEnabled()).toBe(true)
})

it.each(looks)('has a page to sign in that everybody can use %#', async (look) => {
  allowFault(/401/)
  const page = await visit('', look)
  await page.getByRole('link', { name: 'Go on with your organisation' }).waitFor()
  expect(await barriersOn(page)).toEqual([])
})
