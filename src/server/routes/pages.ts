/**
 * The pages of the server: `/dashboard`, whose files the build writes to `dashboard/` beside this
 * module, and `/`, which shows the agents.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hono } from 'hono'
import type { Agent } from '../../engine/author/agent.ts'
import { version } from '../settings/version.ts'

/**
 * The content security policy: the page loads nothing from other origins and runs only its own
 * script files.
 */
const dashboardPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const safe = {
  'content-security-policy': dashboardPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

interface File {
  readonly body: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

/**
 * @param prefix the path below which an app serves these routes; empty on a server
 * @param folder the folder with the built page
 */
export function dashboardRoutes(
  app: Hono,
  prefix: string = '',
  folder: string = fileURLToPath(new URL('../dashboard', import.meta.url)),
): void {
  let files: ReadonlyMap<string, File> | undefined
  const find = (name: string): File | undefined => {
    files ??= readFiles(folder, prefix)
    return files.get(name)
  }
  app.get('/dashboard/assets/:name', (c) => {
    const file = find(`assets/${c.req.param('name')}`)
    return file === undefined ? c.notFound() : c.body(file.body, 200, file.headers)
  })
  const page = (): Response => {
    const file = find('index.html')
    if (file === undefined)
      return new Response('The dashboard is not built: run `npm run build`.\n', { status: 404 })
    return new Response(file.body, { headers: file.headers })
  }
  // The page interprets the rest of the path itself.
  app.get('/dashboard', page)
  app.get('/dashboard/*', page)
}

/** Reads the files once: there are three, and they change only with a new build. */
function readFiles(folder: string, prefix: string): ReadonlyMap<string, File> {
  const files = new Map<string, File>()
  for (const name of namesIn(folder)) {
    const hashed = name.startsWith('assets/')
    const bytes = new Uint8Array(readFileSync(join(folder, name)))
    files.set(name, {
      body: hashed ? bytes : new Uint8Array(Buffer.from(placed(bytes, prefix))),
      headers: {
        ...safe,
        'content-type': types[extname(name)] ?? 'application/octet-stream',
        'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    })
  }
  return files
}

/** The page, with the addresses of its files below the prefix. */
function placed(page: Uint8Array, prefix: string): string {
  return Buffer.from(page).toString('utf8').replaceAll('"/dashboard/', `"${prefix}/dashboard/`)
}

function namesIn(folder: string): readonly string[] {
  try {
    const assets = readdirSync(join(folder, 'assets')).map((name) => `assets/${name}`)
    return ['index.html', ...assets]
  } catch {
    return []
  }
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
code, pre { font: 14px/1.5 ui-monospace, monospace }
pre { padding: 0.75rem 1rem; overflow-x: auto; border: 1px solid; border-radius: 6px }
dt { font-weight: 600; margin-top: 1rem }
dd { margin: 0 }
`

/**
 * The content security policy: the page loads and runs nothing; its only style sheet is allowed by
 * its hash.
 */
const homePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': homePolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** The page at `/`: the agents of the server, and how to call them. */
export function homePage(agents: readonly Agent[], url: string): Response {
  const list = agents.map(
    ({ name, description }) =>
      `<dt>${toHtml(name)}</dt><dd>${toHtml(description)}<br><code>${toHtml(`${url}/agents/${name}/`)}</code></dd>`,
  )
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Lull</title>
<style>${style}</style>
<h1>Lull</h1>
<p>Version ${toHtml(version)} is running. These agents speak A2A; the first one also answers at <code>${toHtml(url)}/</code>.</p>
<dl>${list.join('')}</dl>
<p>Say something:</p>
<pre>${toHtml(hello(url))}</pre>
<p><a href="/dashboard/">Dashboard</a> · <a href="/.well-known/agent-card.json">Agent card</a> · <a href="/healthz">Health</a> · <a href="/readyz">Readiness</a></p>
</html>
`
  return new Response(html, { headers: pageHeaders })
}

/** A page that says why something did not work. */
export function problemPage(status: number, title: string, text: string): Response {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${toHtml(title)} · Lull</title>
<style>${style}</style>
<h1>${toHtml(title)}</h1>
<p>${toHtml(text)}</p>
<p><a href="/dashboard/">Back to the dashboard</a></p>
</html>
`
  return new Response(html, { status, headers: { ...pageHeaders, 'cache-control': 'no-store' } })
}

function hello(url: string): string {
  const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] }
  const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  const headers = `-H 'content-type: application/json' -H 'a2a-version: 1.0'`
  return `curl -s ${url} ${headers} \\\n  -d '${JSON.stringify(call)}'`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function toHtml(text: string): string {
  return text.replace(/[&<>"]/g, (one) => entities[one] ?? one)
}
