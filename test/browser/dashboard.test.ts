/** The dashboard of a real server in a real browser: what an operator sees and does. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { type LullProcess, lull, serving } from '../scenarios/lull-process.ts'
import { barriersOn, looks, openPage } from './browser.ts'
import { visitsTo } from './visits.ts'

let data: string
let port: string
let server: LullProcess & { readonly url: string }
const { browser, visit, allowFault } = visitsTo(() => server.url)

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-browser-'))
  port = `${await freePort()}`
  server = await serving(['demo', '--port', port, '--data', data])
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.ended
  rmSync(data, { recursive: true })
})

/** The root answers for the tasks of every agent. */
const anywhere = () => createClient({ url: server.url })
const at = (agent: string) => createClient({ url: `${server.url}/agents/${agent}` })

async function taskOf(agent: string, text: string, now = false): Promise<string> {
  const sent = await at(agent).send(text, { returnImmediately: now })
  if (sent.kind !== 'task') throw new Error('a task was expected')
  return sent.task.id
}

const ticking = JSON.stringify({ script: [{ repeat: 2_000, ops: [{ step: 'tick', ms: 50 }] }] })
const stateOf = async (taskId: string) => (await anywhere().get(taskId)).state

async function submit(page: Page, label: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: label })
  await dialog.getByRole('button', { name: label }).click()
}

describe('the board', () => {
  it('shows a new task, and its changes, without a reload', async () => {
    const page = await visit('board')
    const taskId = await taskOf('builder', 'Run build 51 of main')
    const card = page.locator('.card', { hasText: 'Run build 51 of main' })
    await card.waitFor()
    await expect.poll(() => card.textContent()).toContain('Wakes on ci.build.completed:51')
    await anywhere().cancel(taskId)
    const ended = page.getByRole('region', { name: 'Ended' })
    await ended.getByText('Run build 51 of main').waitFor()
  })

  it('counts down to what happens by itself', async () => {
    await taskOf('builder', 'Run build 52 of main')
    const page = await visit('board')
    const card = page.locator('.card', { hasText: 'Run build 52 of main' })
    await expect.poll(() => card.locator('.due').textContent()).toMatch(/in \d min \d+ s/)
  })

  it('filters by what is typed', async () => {
    // A word that no id can have. Ids are searched too.
    await taskOf('builder', 'Run build 53 of zinnia')
    const page = await visit('board')
    await page.locator('.card').first().waitFor()
    await page.keyboard.press('/')
    await page.getByRole('searchbox').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('build zinnia')
    await expect.poll(() => page.locator('.card').count()).toBe(1)
  })

  it('shows what strangers wrote as text', async () => {
    const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
    const taskId = await taskOf(
      'script',
      JSON.stringify({ script: [{ say: hostile }, { sleep: 600_000 }] }),
      true,
    )
    const page = await visit(`tasks/${taskId}`)
    await page.getByText('onerror').first().waitFor()
    expect(await page.title()).toMatch(/ · Lull$/)
    expect(await page.locator('img[src=x]').count()).toBe(0)
  })
})

describe('a task', () => {
  it('is paused with a mode and a reason, and resumed with input', async () => {
    const taskId = await taskOf('script', ticking, true)
    const page = await visit(`tasks/${taskId}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pause' })
    await dialog.getByLabel('Reason').fill('lunch')
    await dialog.getByLabel('Mode').selectOption('interrupt_immediate')
    await submit(page, 'Pause')
    await page.getByText('Paused by operator anonymous: lunch').waitFor()
    expect(await stateOf(taskId)).toBe('paused-by-client')
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByLabel(/Input/).fill('{"approved": true}')
    await submit(page, 'Resume')
    await expect.poll(() => stateOf(taskId)).toBe('working')
    await page.getByRole('button', { name: 'Cancel task' }).click()
    await submit(page, 'Cancel task')
    await page.locator('.facts').getByText('Canceled').waitFor()
  })

  it('gets the event that it waits for, and shows its timeline with verified receipts', async () => {
    const taskId = await taskOf('builder', 'Run build 54 of main')
    const page = await visit(`tasks/${taskId}`)
    await page.getByRole('button', { name: 'Send this event now' }).click()
    await submit(page, 'Send this event now')
    await page.locator('.facts').getByText('Completed').waitFor()
    await page.getByText('all 2 verified now').waitFor()
    await expect
      .poll(() => page.getByRole('region', { name: 'Receipts' }).textContent())
      .toMatch(/Stopped, receipt 1 verified.*Went on, receipt 2 verified/)
    await page.getByRole('img', { name: /in all.*stopped \d/ }).waitFor()
    const events = await page.locator('.timeline .event').allTextContents()
    expect(events).toEqual(expect.arrayContaining(['Started ', 'Parked', 'Woke ', 'Completed ']))
  })

  it('is granted consent for exactly one operation', async () => {
    const taskId = await taskOf('travel', 'Book a flight to Oslo for next week.')
    const page = await visit(`tasks/${taskId}`)
    const card = page.getByRole('article')
    expect(await card.locator('.op').textContent()).toContain('Oslo')
    await card.getByRole('button', { name: 'Grant' }).click()
    await expect.poll(() => stateOf(taskId)).toBe('completed')
    const made = page.getByRole('region', { name: 'Artifacts' })
    await made.getByText('flight_confirmation.pdf').first().waitFor()
    const download = page.waitForEvent('download')
    await made.getByRole('link', { name: 'Download flight_confirmation.pdf' }).click()
    expect((await download).suggestedFilename()).toBe('flight_confirmation.pdf')
  })

  it('is answered, and reminded', async () => {
    const script = { script: [{ ask: 'Which colour?' }, { park: { reason: 'done asking' } }] }
    const taskId = await taskOf('script', JSON.stringify(script), true)
    const page = await visit(`tasks/${taskId}`)
    await page.getByRole('article').getByLabel('Answer').fill('red')
    await page.getByRole('button', { name: 'Answer' }).click()
    await expect.poll(() => stateOf(taskId)).toBe('paused-by-agent')
    await page.getByRole('button', { name: 'Remind' }).click()
    await page.getByRole('dialog', { name: 'Remind' }).getByRole('textbox').fill('drink water')
    await submit(page, 'Remind')
    await page.locator('.timeline').getByText('drink water').waitFor()
  })

  it('that does not exist is said to be unknown', async () => {
    const page = await visit('tasks/nobody')
    allowFault(/404/)
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/nobody/)
  })
})

it('holds every task of an agent after a preview, and lifts the hold', async () => {
  const taskId = await taskOf('script', ticking, true)
  const page = await visit('operations')
  await page.getByLabel('Which').selectOption('script')
  await expect.poll(() => page.locator('#preview').textContent()).toMatch(/This stops \d+ task/)
  await page.getByRole('button', { name: 'Hold' }).click()
  await page.getByRole('dialog', { name: 'Hold' }).getByLabel('Reason').fill('incident 42')
  await submit(page, 'Hold')
  await page.getByText('incident 42').waitFor()
  await expect.poll(() => stateOf(taskId)).toBe('paused-by-client')
  await page.getByRole('button', { name: 'Lift' }).click()
  await submit(page, 'Lift')
  await page.getByText('Nothing is held.').waitFor()
  await expect.poll(() => stateOf(taskId)).toBe('working')
  await anywhere().cancel(taskId)
})

it('can be used with the keyboard alone', async () => {
  const taskId = await taskOf('script', ticking, true)
  const page = await visit(`tasks/${taskId}`)
  await expect.poll(() => page.getByRole('button', { name: 'Pause' }).isEnabled()).toBe(true)
  await page.keyboard.press('p')
  await page.getByLabel('Reason').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('by hand')
  await page.keyboard.press('Enter')
  await page.getByText('by hand').first().waitFor()
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  await page.keyboard.press('g')
  await page.keyboard.press('b')
  await page.locator('.card').first().waitFor()
  await page.keyboard.press('j')
  await page.locator('.card :focus').waitFor()
  await page.keyboard.press('Enter')
  await page.locator('.task-head').waitFor()
  await anywhere().cancel(taskId)
})

it('a card that moves to another column never loses the focus', async () => {
  const taskId = await taskOf('script', ticking, true)
  const page = await visit('board')
  const link = page.locator(`.card a[href$="${taskId}"]`)
  await link.focus()
  // A MutationObserver is called after each change of the board, before the browser handles another key.
  await page.evaluate(`new MutationObserver(() => {
    if (document.activeElement === document.body) document.body.dataset.lostFocus = 'yes'
  }).observe(document.querySelector('.board'), { childList: true, subtree: true })`)
  await anywhere().cancel(taskId)
  await page.getByRole('region', { name: 'Ended' }).locator(`a[href$="${taskId}"]:focus`).waitFor()
  expect(await page.locator('body').getAttribute('data-lost-focus')).toBeNull()
})

it('says when the server is away, and goes on when it is back', async () => {
  const page = await visit('board')
  await page.locator('.card').first().waitFor()
  server.signal('SIGKILL')
  await server.ended
  await page.getByText('Not live since').waitFor()
  server = await serving(['demo', '--port', port, '--data', data])
  await expect.poll(() => page.getByText('Not live since').count()).toBe(0)
  await taskOf('builder', 'Run build 55 of main')
  await page.getByText('Run build 55 of main').waitFor()
})

describe.each(looks)('in %j', (look) => {
  it.each(['board', 'tasks', 'waiting', 'operations', 'task'])(
    'axe finds nothing serious on /%s',
    async (where) => {
      const taskId = await taskOf('builder', 'Run build 56 of main')
      const page = await visit(where === 'task' ? `tasks/${taskId}` : where, look)
      await page
        .locator(where === 'operations' ? '#preview' : '.card, tbody tr, .timeline li')
        .first()
        .waitFor()
      expect(await barriersOn(page)).toEqual([])
    },
  )
})

it('the first paint loads at most 70 KB of compressed script and style', async () => {
  const page = await visit('board')
  const files = await page.evaluate<string[]>(
    `[...document.querySelectorAll('script[src], link[rel=stylesheet]')].map((one) => one.src || one.href)`,
  )
  const { gzipSync } = await import('node:zlib')
  let bytes = 0
  for (const file of files) {
    const body = await (await fetch(file)).arrayBuffer()
    bytes += gzipSync(Buffer.from(body)).length
  }
  expect(files.length).toBeGreaterThan(1)
  expect(bytes).toBeLessThan(70_000)
})

it('asks for a key when the server wants one, and shows only the tenant of the key', async () => {
  const home = mkdtempSync(join(tmpdir(), 'lull-login-'))
  const minted = lull(
    [
      'keys',
      'mint',
      '--tenant',
      'acme',
      '--principal',
      'me',
      '--scopes',
      'ops:read,tasks:read,tasks:write',
      '--json',
    ],
    { LULL_DATA: home },
  )
  const { key } = JSON.parse((await minted.ended).out) as { key: string }
  const guarded = await serving(['demo', '--port', '0', '--data', home], { LULL_AUTH: 'keys' })
  const headers = { authorization: `Bearer ${key}` }
  await createClient({ url: `${guarded.url}/agents/builder`, headers }).send('Run build 57 of main')
  const opened = await openPage(browser(), `${guarded.url}/dashboard/board`)
  const { page } = opened
  await page.getByLabel('API key').waitFor()
  expect(await barriersOn(page)).toEqual([])
  await page.getByLabel('API key').fill('lull_wrong_key')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This key is not accepted').waitFor()
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('.card', { hasText: 'Run build 57 of main' }).waitFor()
  await page.locator('.card', { hasText: 'Run build 57 of main' }).getByRole('link').click()
  // The key has no tasks:control: the button stays, and says why it does nothing.
  const resume = page.getByRole('button', { name: 'Resume' })
  await expect.poll(() => resume.getAttribute('aria-disabled')).toBe('true')
  await page
    .getByText(/Your key lacks tasks:control/)
    .first()
    .waitFor()
  await page.keyboard.press('r')
  expect(await page.locator('dialog[open]').count()).toBe(0)
  expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).toBe('{}')
  expect(opened.faults.filter((fault) => !fault.includes('401'))).toEqual([])
  await page.context().close()
  guarded.signal('SIGTERM')
  await guarded.ended
  rmSync(home, { recursive: true })
})
