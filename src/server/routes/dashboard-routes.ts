/**
 * Serves `/dashboard`: the files of the page, which the build writes to `dashboard/` beside this
 * module.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hono } from 'hono'

/**
 * The content security policy: the page loads nothing from other origins and runs only its own
 * script files.
 */
const policy = [
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
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

interface File {
  readonly body: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

/** @param folder the folder with the built page */
export function dashboardRoutes(
  app: Hono,
  folder: string = fileURLToPath(new URL('../dashboard', import.meta.url)),
): void {
  let files: ReadonlyMap<string, File> | undefined
  const find = (name: string): File | undefined => {
    files ??= readFiles(folder)
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
function readFiles(folder: string): ReadonlyMap<string, File> {
  const files = new Map<string, File>()
  for (const name of namesIn(folder)) {
    const hashed = name.startsWith('assets/')
    files.set(name, {
      body: new Uint8Array(readFileSync(join(folder, name))),
      headers: {
        ...safe,
        'content-type': types[extname(name)] ?? 'application/octet-stream',
        'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    })
  }
  return files
}

function namesIn(folder: string): readonly string[] {
  try {
    const assets = readdirSync(join(folder, 'assets')).map((name) => `assets/${name}`)
    return ['index.html', ...assets]
  } catch {
    return []
  }
}
