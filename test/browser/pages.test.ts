/** Pages and forms of the dashboard that need agents of their own: schedules, questions with schemas, search. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { createOps } from '../../src/client/ops-client.ts'
import { type LullProcess, serving } from '../scenarios/lull-process.ts'
import { barriersOn, looks } from './browser.ts'
import { visitsTo } from './visits.ts'

let data: string
let server: LullProcess & { readonly url: string }
const { browser, visit } = visitsTo(() => server.url)

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-pages-'))
  const agents = fileURLToPath(new URL('agents.mjs', import.meta.url))
  server = await serving(['serve', agents, '--port', '0', '--data', data])
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.ended
  rmSync(data, { recursive: true })
})

const client = () => createClient({ url: server.url })

async function started(text: string): Promise<string> {
  const sent = await client().send(text)
  if (sent.kind !== 'task') throw new Error('a task was expected')
  return sent.task.id
}

/** Opens the dialog of a button. The button is enabled as soon as the page is live. */
async function dialogOf(page: Page, label: string) {
  await page.getByRole('button', { name: label, exact: false }).first().click()
  const dialog = page.getByRole('dialog', { name: label })
  await dialog.waitFor()
  return { dialog, submit: () => dialog.getByRole('button', { name: label }).click() }
}

it('asks with a form that is made from the schema, and resumes with input', async () => {
  const taskId = await started('Book a stay')
  const page = await visit(`tasks/${taskId}`)
  const question = page.getByRole('article')
  const submit = () => question.getByRole('button', { name: 'Answer' }).click()
  await question.getByLabel('Where to').fill('Oslo <b>')
  await question.getByLabel('nights').fill('3')
  await question.getByLabel('spa').check()
  await question.getByLabel('room').selectOption('double')
  expect(await question.getByLabel('note (optional)').inputValue()).toBe('')
  await submit()

  await page.getByText('Asks: Which colour?').first().waitFor()
  await question.getByLabel('blue').check()
  await submit()

  await page.getByText('Asks: Who?').first().waitFor()
  await question.getByLabel('Answer, as JSON').fill('Ada')
  await submit()
  await question.getByText('This is not JSON').waitFor()
  await question.getByLabel('Answer, as JSON').fill('["Ada"]')
  await submit()

  await page.getByText('waits for a word').first().waitFor()
  const resume = await dialogOf(page, 'Resume')
  await resume.dialog.getByLabel('ok').check()
  await resume.dialog.getByLabel('word').fill('go')
  await resume.submit()
  await page.locator('.facts').getByText('Completed').waitFor()
  const { status } = await client().get(taskId)
  const [part] = status.message?.parts ?? []
  expect(JSON.parse(part !== undefined && 'text' in part ? part.text : '')).toEqual({
    stayed: { city: 'Oslo <b>', nights: 3, spa: true, room: 'double' },
    painted: 'blue',
    named: ['Ada'],
    input: { ok: true, word: 'go' },
  })
})

it('is answered with the keyboard alone, and a default is chosen already', async () => {
  const page = await visit(`tasks/${await started('Book a stay')}`)
  const question = page.getByRole('article')
  const focused = (label: string) =>
    question.getByLabel(label).and(page.locator(':focus')).waitFor()
  await expect.poll(() => question.getByRole('button', { name: 'Answer' }).isEnabled()).toBe(true)
  await page.keyboard.press('a')
  await focused('Where to')
  // A key of the page that is typed into a field is a letter.
  await page.keyboard.type('Paris')
  await page.keyboard.press('Tab')
  await focused('nights')
  await page.keyboard.type('2')
  await page.keyboard.press('Tab')
  await focused('spa')
  await page.keyboard.press('Space')
  await page.keyboard.press('Tab')
  await focused('room')
  const room = question.getByLabel('room')
  expect(await room.evaluate((one) => (one as unknown as { value: string }).value)).toBe('0')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  await focused('note (optional)')
  await page.keyboard.press('Enter')

  await page.getByText('Asks: Which colour?').first().waitFor()
  await page.keyboard.press('a')
  await focused('red')
  await page.keyboard.press('ArrowDown')
  await focused('blue')
  await page.keyboard.press('Enter')
  await page.getByText('Asks: Who?').first().waitFor()
})

it('a page that cannot be drawn says so, the others stay usable, and later it is drawn', async () => {
  const page = await visit('budgets')
  await page.getByText('No budget is set.').waitFor()
  await page.route('**/ops/agents*', (route) => route.fulfill({ json: { agents: [null] } }))
  await page.getByRole('link', { name: 'Agents' }).click()
  await page.getByRole('alert').getByText('This page could not be drawn').waitFor()
  await page.getByRole('button', { name: 'Draw it again' }).click()
  await page.getByRole('alert').getByText('This page could not be drawn').waitFor()
  await page.getByRole('link', { name: 'Budgets' }).click()
  await page.getByText('No budget is set.').waitFor()
  await page.unroute('**/ops/agents*')
  await page.getByRole('link', { name: 'Agents' }).click()
  await page.locator('.block', { hasText: 'Delivers to an address' }).waitFor()
})

it('starts a task in a form that is made from what the agent takes', async () => {
  const page = await visit('agents')
  await page.locator('.block', { hasText: 'Delivers to an address' }).waitFor()
  const send = await dialogOf(page, 'Send to courier')
  await send.dialog.getByLabel('street').fill('High Street 1')
  await send.dialog.getByLabel('express').check()
  await send.submit()
  await page.locator('.facts').getByText('Completed').waitFor()
  await page.getByText('Delivered: {"street":"High Street 1","express":true}').first().waitFor()
})

it('lists schedules with their next time, pauses and resumes one, and runs it now', async () => {
  const page = await visit('schedules')
  const card = page.locator('.block', { hasText: 'yearly' })
  await expect.poll(() => card.textContent()).toMatch(/0 0 1 1 \*.*Nextin \d+ \w+.*Lastnever/)
  await (await dialogOf(page, 'Pause')).submit()
  await card.getByText('paused by').waitFor()
  await (await dialogOf(page, 'Resume')).submit()
  await expect.poll(() => card.getByText('paused by').count()).toBe(0)
  await (await dialogOf(page, 'Run now')).submit()
  await page.getByText('Did: Sum up the year').first().waitFor()
})

it('shows how far a budget is used, and refills and removes it', async () => {
  const ops = createOps({ url: server.url })
  await ops.setBudget({ scope: { agent: 'digest' }, measure: 'tokens', limit: 500, per: 'day' })
  const page = await visit('budgets')
  const card = page.getByRole('row', { name: /agent digest/ })
  await card.getByText('0 of 500 tokens per day').waitFor()
  const refill = await dialogOf(page, 'Refill')
  await refill.dialog.getByLabel(/Amount/).fill('250')
  await refill.submit()
  await card.getByText('0 of 750 tokens per day').waitFor()
  await (await dialogOf(page, 'Remove')).submit()
  await page.getByText('No budget is set.').waitFor()
})

it('shows the processes, and who did what', async () => {
  const taskId = await started('Book a stay')
  await client().cancel(taskId)
  const page = await visit('processes')
  await page.getByText('answers this page').waitFor()
  expect(await page.locator('.block').first().textContent()).toContain('booker, courier, digest')
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  const row = page.getByRole('row', { name: /task\.cancel/ }).filter({
    has: page.locator(`a[title="${taskId}"]`),
  })
  await row.waitFor()
  await page.getByLabel('Principal').fill('nobody')
  await page.getByText('Nothing was recorded in this time').waitFor()
  await page.getByLabel('Principal').fill('')
  await row.getByRole('link').click()
  await page.locator('.task-head').waitFor()
})

it('searches every task on the server, by words in the address and by the end of an id', async () => {
  const taskId = await started('Book a stay in <i>Ulaanbaatar</i>')
  const page = await visit('board?q=ULAAN')
  await page.getByText('Every task was searched.').waitFor()
  await expect.poll(() => page.locator('.card').count()).toBe(1)
  expect(await page.locator('.card').textContent()).toContain('<i>Ulaanbaatar</i>')
  await page.getByLabel('Search tasks').fill(taskId.slice(-8))
  await page.waitForURL(`**/dashboard/board?q=${taskId.slice(-8)}`)
  await page.getByText('Every task was searched.').waitFor()
  await expect.poll(() => page.locator('.card').count()).toBe(1)
  await page.getByLabel('Search tasks').fill('nothing like this')
  await page.getByText('Nothing found.').first().waitFor()
})

describe.each(looks)('in %j', (look) => {
  it.each(['agents', 'schedules', 'budgets', 'processes', 'audit'])(
    'axe finds nothing serious on /%s',
    async (where) => {
      const ops = createOps({ url: server.url })
      const scope = { agent: 'courier' }
      const { budget } = await ops.setBudget({ scope, measure: 'tokens', limit: 500 })
      const { ruleId } = await ops.addRule({ scope, reason: 'axe', onEvent: 'incident.opened' })
      await client().cancel(await started('Book a stay'))
      const page = await visit(where, look)
      await page
        .locator(where === 'budgets' ? '[aria-label=Rules] li' : '.block, tbody tr')
        .first()
        .waitFor()
      expect(await barriersOn(page)).toEqual([])
      await ops.removeRule(ruleId)
      await ops.removeBudget(budget.budgetId)
    },
  )

  it('axe finds nothing serious in the form of a question and the list of keys', async () => {
    const page = await visit(`tasks/${await started('Book a stay')}`, look)
    await page.getByRole('article').waitFor()
    expect(await barriersOn(page)).toEqual([])
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    expect(await barriersOn(page)).toEqual([])
  })
})

it('the first paint makes a fixed number of requests, and asks for counts once', async () => {
  const asked: string[] = []
  const context = await browser().newContext()
  const page = await context.newPage()
  page.on('request', (request) => asked.push(request.url().slice(server.url.length)))
  await started('Book a stay')
  await page.goto(`${server.url}/dashboard/board`)
  await page.locator('.card').first().waitFor()
  const askedFor = (start: string) => asked.filter((path) => path.startsWith(start))
  await expect.poll(() => askedFor('/ops/changes')).toHaveLength(1)
  await expect.poll(() => askedFor('/ops/tasks')).toHaveLength(5)
  await context.close()
  const ops = askedFor('/ops/')
  expect(ops.filter((path) => path.includes('counts=false'))).toHaveLength(4)
  expect(asked.length - ops.length).toBeLessThanOrEqual(5)
})
