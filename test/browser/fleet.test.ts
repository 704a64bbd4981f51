/** Many tasks: the table, acts on the chosen ones, the overview, and what a task hands over. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { createOps } from '../../src/client/ops-client.ts'
import { type LullProcess, serving } from '../scenarios/lull-process.ts'
import { barriersOn, looks } from './browser.ts'
import { visitsTo } from './visits.ts'

let data: string
let server: LullProcess & { readonly url: string }
const { visit } = visitsTo(() => server.url)
const MANY = 105

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-fleet-'))
  server = await serving(['serve', '--script', '--port', '0', '--data', data])
  await Promise.all(Array.from({ length: MANY }, (_, n) => started({ say: `number ${n}` })))
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.ended
  rmSync(data, { recursive: true })
})

const client = () => createClient({ url: server.url })

async function started(...script: readonly object[]): Promise<string> {
  const sent = await client().send(JSON.stringify({ script }))
  if (sent.kind !== 'task') throw new Error('a task was expected')
  return sent.task.id
}

const stateOf = async (taskId: string) => (await client().get(taskId)).state
const park = { park: { reason: 'waits', conditions: { onEvent: 'payment.settled:1' } } }
const rows = (page: Page) => page.locator('tbody tr')

describe('the table', () => {
  it('shows a hundred a page, and its filters and page are in the address', async () => {
    const page = await visit('tasks')
    await expect.poll(() => rows(page).count()).toBe(100)
    await page.getByText(/^1–100 of 10\d$/).waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await expect.poll(() => rows(page).count()).toBeLessThan(20)
    expect(page.url()).toMatch(/page=2/)
    await page.reload()
    await page.getByText(/^101–10\d of 10\d$/).waitFor()
    await page.getByRole('button', { name: 'First page' }).click()
    await expect.poll(() => rows(page).count()).toBe(100)
  })

  it('filters by state and by words, and offers to drop what finds nothing', async () => {
    await started({ fail: 'zinnia is out' })
    const page = await visit('tasks')
    await page.getByRole('link', { name: /^Failed/ }).click()
    await expect.poll(() => rows(page).count()).toBe(1)
    expect(page.url()).toMatch(/show=fail/)
    await page.keyboard.press('/')
    await page.keyboard.type('no such words')
    await page.getByText('No task matches').waitFor()
    await page.getByRole('button', { name: 'Drop “no such words”' }).click()
    await expect.poll(() => rows(page).count()).toBe(1)
    // A search leads here from every page.
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('zinnia')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/dashboard/tasks?q=zinnia')
    await expect.poll(() => rows(page).count()).toBe(1)
  })

  it('sorts by its heads, and the order is in the address', async () => {
    const page = await visit('tasks')
    await expect.poll(() => rows(page).count()).toBe(100)
    const newest = await rows(page).first().getByRole('link').getAttribute('href')
    await page.getByRole('link', { name: 'Age ↑' }).click()
    await page.waitForURL('**/dashboard/tasks?sort=changed')
    await page.locator('th[aria-sort=descending]', { hasText: 'Age' }).waitFor()
    await expect
      .poll(() => rows(page).first().getByRole('link').getAttribute('href'))
      .not.toBe(newest)
  })

  it('does not count canceled as failed', async () => {
    const taskId = await started(park)
    await client().cancel(taskId)
    const page = await visit('board')
    const ended = page.getByRole('region', { name: 'Ended' })
    await ended.locator(`a[href$="${taskId}"]`).waitFor()
    const failed = page.getByRole('region', { name: 'Failed' })
    expect(await failed.locator(`a[href$="${taskId}"]`).count()).toBe(0)
  })
})

it('previews an act on the chosen tasks, leaves out what cannot, and does it', async () => {
  const [first, second, done] = [await started(park), await started(park), await started()]
  const page = await visit('tasks')
  const choose = (taskId: string) =>
    page
      .locator('tr', { has: page.locator(`a[href$="${taskId}"]`) })
      .getByRole('checkbox')
      .check()
  for (const taskId of [first, second, done]) await choose(taskId)
  await page.getByText('3 chosen').waitFor()

  await page.getByRole('button', { name: 'Hold' }).click()
  const hold = page.getByRole('dialog', { name: 'Hold 2 tasks' })
  expect(await hold.locator('.preview').textContent()).toMatch(
    /2 parked stand still.*1 completed is left out: its state does not allow it/,
  )
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Resume' }).click()
  const resume = page.getByRole('dialog', { name: 'Resume 2 tasks' })
  await resume.getByRole('textbox').fill('{"status": "known"}')
  await resume.getByRole('button', { name: 'Resume 2 tasks' }).click()
  await expect.poll(() => stateOf(first)).toBe('completed')
  await expect.poll(() => stateOf(second)).toBe('completed')
  // What was left out stays chosen.
  await page.getByText('1 chosen').waitFor()
})

it('shows what the last hours did, who is waited for, and what happens next', async () => {
  const script = [
    { usage: { inputTokens: 4_000, outputTokens: 100, costUsd: 0.5 } },
    { ask: 'Who?' },
  ]
  const asked = await started(...script)
  await started(park)
  const page = await visit()
  await page.getByText('Waiting for people').waitFor()
  await page.getByRole('img', { name: /^How long they have waited: 1 < 5 m/ }).waitFor()
  const started24 = page.getByRole('img', { name: /^Started 1\d\d, completed/ })
  await started24.waitFor()
  await page.getByRole('region', { name: 'Cost by agent' }).getByText('$0.50').waitFor()
  await page
    .getByRole('region', { name: 'Stopped, by what they wait for' })
    .getByText('payment.settled')
    .waitFor()
  await page.getByRole('link', { name: 'Answer them' }).click()
  await page.getByLabel('Answer').waitFor()
  await client().cancel(asked)
})

it('says what is stuck and why, beside what mends it', async () => {
  const ops = createOps({ url: server.url })
  const taskId = await started(park)
  const { contextId } = await ops.task(taskId)
  const { budget } = await ops.setBudget({ scope: { contextId }, measure: 'tokens', limit: 10 })
  await client().cancel(taskId)
  const script = JSON.stringify({ script: [{ usage: { inputTokens: 50 } }, { step: 'more' }] })
  const sent = await client().send(script, { contextId })
  const stuck = sent.kind === 'task' ? sent.task.id : ''
  await client().waitFor(stuck, 'paused-by-client')
  const page = await visit('operations')
  const panel = page.getByRole('region', { name: 'Stuck' })
  await panel.getByText(/1 task of script: .*budget/).waitFor()
  await ops.removeBudget(budget.budgetId)
  await client().waitFor(stuck, 'completed')
  await panel.getByText('Nothing is stuck.').waitFor()
  await page.getByRole('region', { name: 'Processes' }).getByText('answers this page').waitFor()
})

it('gives each page its title, a phone one row of navigation, and no key caps to fingers', async () => {
  const phone = { viewport: { width: 360, height: 760 }, hasTouch: true, isMobile: true }
  const taskId = await started({ say: 'hello' })
  const page = await visit('board', phone)
  await expect.poll(() => page.title()).toBe('Board · Lull')
  const bar = page.locator('nav.tabs')
  await bar.waitFor()
  expect((await bar.boundingBox())?.height).toBeLessThan(64)
  expect(await bar.locator(':scope > ul > li:visible').count()).toBe(5)
  expect(await page.locator('.kbd:visible').count()).toBe(0)
  await bar.getByText('More').click()
  await bar.getByRole('link', { name: 'Audit' }).click()
  await expect.poll(() => page.title()).toBe('Audit · Lull')
  await bar.getByRole('link', { name: 'Tasks' }).click()
  await rows(page).first().waitFor()
  // No cell of the table lies outside of the window.
  const widest = await page
    .locator('td:visible')
    .evaluateAll((cells) => Math.max(...cells.map((cell) => cell.getBoundingClientRect().right)))
  expect(widest).toBeLessThanOrEqual(360)
  await page.goto(`${server.url}/dashboard/tasks/${taskId}`)
  await expect.poll(() => page.title()).toBe('script: hello · Lull')
  const time = page.locator('.timeline time').first()
  await time.waitFor()
  expect(await time.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$/)
})

describe('a task', () => {
  it('is written to, and shows what was said', async () => {
    const page = await visit(`tasks/${await started(park)}`)
    await page.getByLabel('Write to it').fill('Mention the rounding rule')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    const talk = page.getByRole('region', { name: 'Conversation' })
    await talk.getByText('Mention the rounding rule', { exact: true }).waitFor()
    expect(await page.getByLabel('Write to it').inputValue()).toBe('')
  })

  it('is forked from a step, and exported as a file', async () => {
    const taskId = await started({ step: 'read' }, park)
    const page = await visit(`tasks/${taskId}`)
    const another = page.getByRole('region', { name: 'Go another way' })
    await another.getByRole('button', { name: 'Fork from a step' }).click()
    const dialog = page.getByRole('dialog', { name: 'Fork from a step' })
    await dialog.getByLabel('Runs next').selectOption({ index: 1 })
    await dialog.getByLabel(/stays paused/).check()
    await dialog.getByRole('button', { name: 'Fork from a step' }).click()
    await page.getByText('Forked from').first().waitFor()
    expect(page.url()).not.toContain(taskId)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    expect((await download).suggestedFilename()).toMatch(/\.jsonl$/)
  })

  it('shows results of steps folded, with secrets redacted, and who stopped and woke it', async () => {
    const taskId = await started({ step: 'read' }, park)
    await client().resume(taskId, { input: { status: 'passed', token: 'abc123' } })
    const page = await visit(`tasks/${taskId}`)
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.locator('summary').first().waitFor()
    await timeline.locator('summary', { hasText: 'passed' }).click()
    await timeline.getByText('"token": "[redacted]"').waitFor()
    expect(await timeline.textContent()).not.toContain('abc123')
    expect(await timeline.textContent()).toMatch(/Parked.*Ended by .*anonymous/)
    await timeline.getByRole('button', { name: 'Steps' }).click()
    await expect.poll(() => timeline.locator('.lull').count()).toBe(0)
  })

  it('shows artifacts without running anything of them, and hands them out', async () => {
    const text =
      '# Cause\n\n**half up** <img src=x onerror="document.title=1"> [in](javascript:alert(1)) ' +
      '[out](https://example.com) ![see](https://example.com/x.png)\n\n- one\n- two'
    const diff = '--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new'
    const taskId = await started(
      { artifact: { name: 'cause.md', text } },
      { artifact: { name: 'repair.diff', text: diff } },
    )
    const page = await visit(`tasks/${taskId}`)
    const made = page.getByRole('region', { name: 'Artifacts' })
    await made.getByRole('heading', { name: 'Cause' }).waitFor()
    expect(await made.locator('li li').allTextContents()).toEqual(['one', 'two'])
    expect(await made.locator('img').count()).toBe(0)
    expect(await made.locator('.md a').evaluateAll((all) => all.map((one) => String(one)))).toEqual(
      ['https://example.com/'],
    )
    expect(await made.locator('.add').textContent()).toBe('+new')
    expect(await made.locator('.del').textContent()).toBe('-old')
    const download = page.waitForEvent('download')
    await made.getByRole('link', { name: 'Download cause.md' }).click()
    expect((await download).suggestedFilename()).toBe('cause.md')
  })
})

describe.each(looks)('in %j', (look) => {
  it('axe finds nothing serious on the overview and on the table with chosen tasks', async () => {
    const page = await visit('', look)
    await page.locator('.figures-row').waitFor()
    expect(await barriersOn(page)).toEqual([])
    await page.goto(`${server.url}/dashboard/tasks`)
    await page.getByRole('checkbox').nth(1).check()
    await page.getByText('1 chosen').waitFor()
    expect(await barriersOn(page)).toEqual([])
  })
})
