import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { afterAll, expect, it } from 'vitest'
import { dashboardRoutes } from './pages.ts'

const folder = mkdtempSync(join(tmpdir(), 'lull-dashboard-'))
mkdirSync(join(folder, 'assets'))
writeFileSync(join(folder, 'index.html'), '<!doctype html>')
writeFileSync(join(folder, 'assets', 'index-1.js'), 'let a')
writeFileSync(join(folder, 'secret'), 'no')
afterAll(() => rmSync(folder, { recursive: true }))

function appWith(from: string): Hono {
  const app = new Hono()
  dashboardRoutes(app, '', from)
  return app
}

it.each(['/dashboard', '/dashboard/', '/dashboard/tasks/1'])(
  'answers %s with the page',
  async (path) => {
    const response = await appWith(folder).request(path)
    expect(await response.text()).toBe('<!doctype html>')
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
    expect(response.headers.get('cache-control')).toBe('no-cache')
  },
)

it('serves its own files, and no others', async () => {
  const app = appWith(folder)
  const script = await app.request('/dashboard/assets/index-1.js')
  expect(script.headers.get('content-type')).toContain('text/javascript')
  expect(script.headers.get('cache-control')).toContain('immutable')
  for (const name of ['..%2fsecret', '%2e%2e%2fsecret', 'none.js']) {
    expect((await app.request(`/dashboard/assets/${name}`)).status).toBe(404)
  }
})

it('says how to build the page where it is not built', async () => {
  const response = await appWith(join(folder, 'nowhere')).request('/dashboard')
  expect(response.status).toBe(404)
  expect(await response.text()).toContain('npm run build')
})
