/** The dashboard of an embedded engine, below a path of an app that has a login of its own. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { demoAgents } from '../../dist/demo/demo-agents.js'
import { type Embedded, embed } from '../../dist/server/embed/index.js'
import { barriersOn } from './browser.ts'
import { visitsTo } from './visits.ts'

let data: string
let app: Server
let lull: Embedded
let url: string
const { visit } = visitsTo(() => url)

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-embedded-'))
  app = createServer((request, response) => lull.handler(request, response)).listen(0, '127.0.0.1')
  await once(app, 'listening')
  url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/lull`
  const olga = { tenant: 'acme', principal: 'olga', operator: true }
  const caller = (request: Request) =>
    /session=of-olga/.test(request.headers.get('cookie') ?? '') ? olga : undefined
  lull = embed({ agents: demoAgents, url, data, caller, ops: true, log: () => undefined })
  await lull.engine
})
afterAll(async () => {
  app.closeAllConnections()
  app.close()
  await lull.close()
  rmSync(data, { recursive: true })
})

it('shows the tasks of the tenant to an operator of the app, who acts', async () => {
  const engine = await lull.engine
  const ann = { tenant: 'acme', principal: 'ann' }
  const message = {
    messageId: 'm',
    role: 'ROLE_USER' as const,
    parts: [{ text: 'Run build 5 of main' }],
  }
  const sent = await engine.send(ann, { message, agent: 'builder' })
  if (sent.kind !== 'task') throw new Error('not a task')
  const page = await visit('board', {
    storageState: {
      cookies: [
        {
          ...{ name: 'session', value: 'of-olga', domain: '127.0.0.1', path: '/', expires: -1 },
          ...{ httpOnly: true, secure: false, sameSite: 'Strict' as const },
        },
      ],
      origins: [],
    },
  })
  const card = page.locator('.card', { hasText: 'Run build 5 of main' })
  await card.getByRole('link').first().click()
  await page.waitForURL(`${url}/dashboard/tasks/${sent.task.id}`)
  expect(await barriersOn(page)).toEqual([])
  await page.getByText('olga').first().waitFor()
  expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Cancel task' }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel task' })
  await dialog.getByRole('button', { name: 'Cancel task' }).click()
  await engine.waitFor(ann, sent.task.id, (task) => task.state === 'canceled')
  await page.reload()
  await page.getByText('canceled').first().waitFor()
})
