/** A board on which a thousand changes arrive: what it draws and loads depends on time, not on the number of changes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { createOps } from '../../src/client/ops-client.ts'
import { type LullProcess, serving } from '../scenarios/lull-process.ts'
import { visitsTo } from './visits.ts'

let data: string
let server: LullProcess & { readonly url: string }
const { visit } = visitsTo(() => server.url)

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-changes-'))
  server = await serving(['serve', '--script', '--port', '0', '--data', data])
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.ended
  rmSync(data, { recursive: true })
})

const TASKS = 10
const STEPS = 100

it('T4: a thousand changes are drawn a few times and loaded a few times, each second', async () => {
  const client = createClient({ url: server.url })
  const steps = {
    script: [{ park: { reason: 'start' } }, { repeat: STEPS, ops: [{ step: 'tick' }] }],
  }
  const sent = await Promise.all(
    Array.from({ length: TASKS }, () => client.send(JSON.stringify(steps))),
  )
  const ids = sent.map((one) => (one.kind === 'task' ? one.task.id : ''))

  const page = await visit('board')
  await expect.poll(() => page.locator('.card').count()).toBe(TASKS)
  let loads = 0
  page.on('request', (request) => {
    if (request.url().includes('/ops/tasks')) loads++
  })
  // A MutationObserver is called once for all that was drawn at once.
  await page.evaluate(`globalThis.draws = 0
    new MutationObserver(() => { draws++ }).observe(document.querySelector('.board'),
      { childList: true, subtree: true, characterData: true, attributes: true })`)
  const from = await page.evaluate<number>('performance.now()')
  await Promise.all(ids.map((id) => client.resume(id)))
  const completed = page.getByRole('region', { name: 'Ended' })
  await expect.poll(() => completed.locator('.card').count()).toBe(TASKS)
  await expect.poll(() => completed.locator('.total').textContent()).toBe(`${TASKS}`)
  const seconds = (await page.evaluate<number>(`performance.now() - ${from}`)) / 1_000
  const draws = await page.evaluate<number>('draws')

  const summaries = await Promise.all(ids.map((id) => createOps({ url: server.url }).task(id)))
  const changes = summaries.reduce((sum, { version }) => sum + version, 0)
  expect(changes).toBeGreaterThan(TASKS * STEPS)
  // Each second: four messages of the feed, a tick of the clock, and an answer with counts or lists.
  expect(draws).toBeLessThan(10 + 6 * seconds)
  // Each second: the counts, or the lists of the five columns.
  expect(loads).toBeLessThan(10 + 5 * seconds)
})
