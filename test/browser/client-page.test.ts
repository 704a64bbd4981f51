/** `lull/client` in a page of another origin, in a real browser: what CORS lets through, and what it does not. */
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mintKey } from '../../src/server/auth/api-keys.ts'
import { createKeyFile } from '../../src/server/auth/key-file.ts'
import { type RunningServer, startServer } from '../../src/server/serve.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import { openBrowser } from './browser.ts'

const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
let browser: Browser
let pages: Server
let data: string
let serving: RunningServer
let key: string

/** Serves an empty page and the built files. */
async function openPages(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const path = normalize(request.url ?? '/')
    if (path === '/') {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>')
      return
    }
    const text = await readFile(join(dist, path)).catch(() => undefined)
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': 'text/javascript' })
    response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

beforeAll(async () => {
  pages = await openPages()
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
  data = mkdtempSync(join(tmpdir(), 'lull-page-'))
  serving = await startServer({
    agents: [createScriptAgent()],
    port: 0,
    data,
    store: 'memory',
    auth: { modes: ['keys'] },
    allowedOrigins: [origin],
    log: () => undefined,
  })
  const minted = mintKey(
    { tenant: 'acme', principal: 'page', scopes: ['tasks:read', 'tasks:write', 'tasks:control'] },
    Date.now(),
  )
  key = minted.key
  await createKeyFile(data).add(minted.kept)
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  await serving.close()
  pages.close()
  rmSync(data, { recursive: true })
})

it('sends, follows and controls a task from a page of an allowed origin, and from no other', async () => {
  const { port } = pages.address() as AddressInfo
  const page = await browser.newPage()
  /** A text, because the page imports the module, not this test. */
  const work = `(async () => {
    const { createClient } = await import('/client/index.js')
    const headers = { authorization: 'Bearer ${key}' }
    const client = createClient({ url: '${serving.url}', headers })
    try {
      const sent = await client.send([{ data: { script: [{ ask: 'who?' }] } }])
      const kinds = []
      for await (const { kind } of client.watch(sent.task.id)) {
        kinds.push(kind)
        break
      }
      const canceled = await client.cancel(sent.task.id)
      return [sent.task.state, ...kinds, canceled.state]
    } catch (error) {
      return [error.kind ?? String(error)]
    }
  })()`
  await page.goto(`http://127.0.0.1:${port}/`)
  expect(await page.evaluate(work)).toEqual(['input-required', 'task', 'canceled'])
  // The same page under another name is another origin.
  await page.goto(`http://localhost:${port}/`)
  expect(await page.evaluate(work)).toEqual(['unreachable'])
})
