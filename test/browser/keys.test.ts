/** The keyboard in a real browser: keys are typed as people type them, never set as values. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { type LullProcess, serving } from '../scenarios/lull-process.ts'
import { visitsTo } from './visits.ts'

let data: string
let server: LullProcess & { readonly url: string }
const { visit } = visitsTo(() => server.url)

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-keys-'))
  server = await serving(['serve', '--script', '--port', '0', '--data', data])
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.ended
  rmSync(data, { recursive: true })
})

const client = () => createClient({ url: server.url })

async function started(...script: readonly object[]): Promise<string> {
  const sent = await client().send(JSON.stringify({ script }), { returnImmediately: true })
  if (sent.kind !== 'task') throw new Error('a task was expected')
  return sent.task.id
}

const parked = () =>
  started({ park: { reason: 'ci', conditions: { onEvent: 'ci.build.completed:7' } } })

/** Presses a key of the page as soon as the page is live. */
async function press(page: Page, key: string, button: string): Promise<void> {
  await expect.poll(() => page.getByRole('button', { name: button }).isEnabled()).toBe(true)
  await page.keyboard.press(key)
}

const focused = (page: Page) =>
  page.evaluate<string>(`document.activeElement.value ?? document.activeElement.tagName`)

describe('K1: a key types nothing into the dialog that it opens:', () => {
  it.each([
    ['r', 'Resume', ''],
    ['e', 'Send this event now', '{"status": "passed"}'],
    ['m', 'Remind', ''],
    ['c', 'Cancel task', undefined],
  ])('%s opens %s', async (key, name, value) => {
    const page = await visit(`tasks/${await parked()}`)
    await press(page, key, name)
    await page.getByRole('dialog', { name }).waitFor()
    if (value === undefined) return
    const field = page.getByRole('dialog', { name }).getByRole('textbox')
    await field.and(page.locator(':focus')).waitFor()
    expect(await focused(page)).toBe(value)
  })

  it('p opens Pause, a begins to answer, h opens Hold', async () => {
    const working = await started({ repeat: 2_000, ops: [{ step: 'tick', ms: 50 }] })
    const page = await visit(`tasks/${working}`)
    await press(page, 'p', 'Pause')
    await page.getByRole('dialog', { name: 'Pause' }).getByLabel('Reason').waitFor()
    expect(await focused(page)).toBe('')
    await client().cancel(working)
    const asking = await visit(`tasks/${await started({ ask: 'who?' })}`)
    await press(asking, 'a', 'Answer')
    await asking.getByLabel('Answer').and(asking.locator(':focus')).waitFor()
    expect(await focused(asking)).toBe('')
    const operations = await visit('operations')
    await press(operations, 'h', 'Hold')
    await operations.getByRole('dialog', { name: 'Hold' }).getByLabel('Reason').waitFor()
    expect(await focused(operations)).toBe('')
  })

  it('a parked build gets the data that its form shows, and not the key before it', async () => {
    const taskId = await started(
      { park: { reason: 'ci', conditions: { onEvent: 'ci.build.completed:8' } } },
      { echo: 'wake' },
    )
    const page = await visit(`tasks/${taskId}`)
    await press(page, 'e', 'Send this event now')
    await page.getByRole('dialog').getByRole('textbox').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await client().waitFor(taskId, 'completed')
    expect(JSON.stringify(await client().get(taskId))).toContain('"status":"passed"')
    await page.locator('.timeline').getByText('Woke').waitFor()
  })
})

describe('K2: no key acts', () => {
  it('while a dialog is open, also one without a field', async () => {
    const page = await visit(`tasks/${await parked()}`)
    await press(page, 'c', 'Cancel task')
    await page.getByRole('dialog', { name: 'Cancel task' }).waitFor()
    for (const key of ['r', 'e', 'm', '?', '/', 'g', 'w']) await page.keyboard.press(key)
    expect(await page.locator('dialog[open]').count()).toBe(1)
    expect(page.url()).toContain('/tasks/')
  })

  it('while a field has the focus', async () => {
    await parked()
    const page = await visit('board')
    await page.locator('.card').first().waitFor()
    await page.keyboard.press('/')
    await page.getByRole('searchbox').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('gw?/jk')
    expect(await page.getByRole('searchbox').inputValue()).toBe('gw?/jk')
    expect(await page.locator('dialog[open]').count()).toBe(0)
  })

  it('together with a modifier', async () => {
    const page = await visit(`tasks/${await parked()}`)
    await press(page, 'Alt+r', 'Resume')
    await page.keyboard.press('Control+m')
    expect(await page.locator('dialog[open]').count()).toBe(0)
  })
})

it('a field for JSON refuses what is not JSON before it is sent, says where, and keeps what was typed', async () => {
  const taskId = await parked()
  const page = await visit(`tasks/${taskId}`)
  let sent = 0
  page.on('request', (request) => {
    if (request.url().includes('/resume')) sent++
  })
  await press(page, 'r', 'Resume')
  const dialog = page.getByRole('dialog', { name: 'Resume' })
  await dialog.getByRole('textbox').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('{"a": x}')
  await dialog.getByRole('button', { name: 'Resume' }).click()
  const fault = dialog.getByRole('alert')
  expect(await fault.textContent()).toContain('line 1, column 7')
  const field = dialog.getByRole('textbox')
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  expect(await field.inputValue()).toBe('{"a": x}')
  expect(sent).toBe(0)
  // The fault has the focus, and goes when the text is changed.
  await page.keyboard.press('Control+a')
  await page.keyboard.type('{"a": 1}')
  await expect.poll(() => fault.count()).toBe(0)
  await dialog.getByRole('button', { name: 'Resume' }).click()
  await client().waitFor(taskId, 'completed')
  expect(sent).toBe(1)
})
