/** Questions are answered where they are read: on *Waiting*, with keys, and truthfully when somebody else was faster. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { createOps } from '../../src/client/ops-client.ts'
import { type LullProcess, serving } from '../scenarios/lull-process.ts'
import { visitsTo } from './visits.ts'

let data: string
let server: LullProcess & { readonly url: string }
const { visit, allowFault } = visitsTo(() => server.url)

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-answers-'))
  server = await serving(['serve', '--script', '--port', '0', '--data', data])
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.ended
  rmSync(data, { recursive: true })
})
beforeEach(async () => {
  for (const { taskId } of (await createOps({ url: server.url }).tasks()).tasks) {
    await client()
      .cancel(taskId)
      .catch(() => undefined)
  }
})

const client = () => createClient({ url: server.url })

async function started(...script: readonly object[]): Promise<string> {
  const sent = await client().send(JSON.stringify({ script }))
  if (sent.kind !== 'task') throw new Error('a task was expected')
  return sent.task.id
}

const stateOf = async (taskId: string) => (await client().get(taskId)).state
const focused = (page: Page, selector: string) => page.locator(selector).and(page.locator(':focus'))

it('goes through all questions with j, k and Enter, and answers each in place', async () => {
  const first = await started({ ask: 'Which colour?' })
  const second = await started({
    consent: { prompt: 'Merge?', operation: { merge: 'main', files: 14 } },
  })
  const third = await started({ ask: 'Which size?' })
  const page = await visit('waiting')
  await expect.poll(() => page.getByRole('article').count()).toBe(3)
  // The longest wait comes first.
  expect(await page.getByRole('article').first().textContent()).toContain('Which colour?')
  await expect.poll(() => page.getByRole('button', { name: 'Grant' }).isEnabled()).toBe(true)

  await page.keyboard.press('j')
  await focused(page, 'article:has-text("Which colour?")').waitFor()
  await page.keyboard.press('Enter')
  await focused(page, 'textarea').waitFor()
  await page.keyboard.type('jk red')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('Which colour? was answered by you.').waitFor()
  await expect.poll(() => stateOf(first)).toBe('completed')

  // The next question has the focus now. A first Enter goes to the button, a second one grants.
  await focused(page, 'article:has-text("merge")').waitFor()
  await page.keyboard.press('Enter')
  await focused(page, 'button:has-text("Grant")').waitFor()
  expect(await stateOf(second)).toBe('user-consent-required')
  await page.keyboard.press('Enter')
  await page.getByText('was granted by you.').waitFor()
  await expect.poll(() => stateOf(second)).toBe('completed')

  await focused(page, 'article:has-text("Which size?")').waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('large')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => stateOf(third)).toBe('completed')
  // Three lines are left, in their places.
  await expect.poll(() => page.locator('.line').count()).toBe(3)
})

it('counts an answer as given at once, and brings the form back with what was typed when it fails', async () => {
  await started({ ask: 'Which colour?' })
  const page = await visit('waiting')
  allowFault(/503|Failed to load/)
  await page.getByLabel('Answer').fill('red')
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(`${server.url}/**`, async (route) => {
    const body = route.request().postData() ?? ''
    if (!/"red"/.test(body)) return route.continue()
    await held
    return route.fulfill({ status: 503, body: '{}' })
  })
  await page.getByRole('button', { name: 'Answer' }).click()
  // The server has not said anything yet.
  await page.getByText('Which colour? was answered by you.').waitFor()
  release()
  await page.getByRole('article').getByRole('alert').waitFor()
  expect(await page.getByLabel('Answer').inputValue()).toBe('red')
})

it('says so when somebody else was faster, and moves nothing', async () => {
  const taken = await started({ ask: 'Which colour?' })
  await started({ ask: 'Which size?' })
  const page = await visit('waiting')
  await expect.poll(() => page.getByRole('article').count()).toBe(2)
  await client().answer(taken, 'green')
  await page.getByText('Which colour? was answered by somebody else before you.').waitFor()
  const places = await page.locator('.queue > :visible').allTextContents()
  expect(places[0]).toContain('Which colour? was answered')
  expect(places[1]).toContain('Which size?')
})

it('says who was faster when the server has another answer already', async () => {
  const taskId = await started({ ask: 'Which colour?' }, { park: { reason: 'asked' } })
  const page = await visit('waiting')
  allowFault(/4\d\d/)
  await page.getByLabel('Answer').fill('red')
  // Somebody answers while the answer of this page is on its way.
  await page.route('**/answer?*', async (route) => {
    await client().answer(taskId, 'green')
    await route.continue()
  })
  await page.getByRole('button', { name: 'Answer' }).click()
  const line = page.locator('.line', { hasText: 'Which colour?' })
  await line.getByText('was answered by somebody else before you.').waitFor()
  await expect.poll(() => line.textContent()).toMatch(/anonymous/)
  const said = JSON.stringify((await client().get(taskId)).history)
  expect([said.includes('green'), said.includes('"red"')]).toEqual([true, false])
})

it('keeps an answer to a held task, says which hold, and lifts it', async () => {
  const ops = createOps({ url: server.url })
  const taskId = await started({ ask: 'Which colour?' })
  const { holdId } = await ops.hold({ scope: { taskIds: [taskId] }, reason: 'database incident' })
  const page = await visit('waiting')
  await page.getByText('kept until the hold is lifted').waitFor()
  await page.getByLabel('Answer').fill('red')
  await page.getByRole('button', { name: 'Answer' }).click()
  await page.getByText('It is kept until the hold is lifted.').waitFor()
  await page.getByRole('link', { name: 'See it' }).click()
  await page.getByText(/Held by anonymous since .*“database incident”/).waitFor()
  await page.getByText('The countdown stands still.').waitFor()
  await page.getByRole('button', { name: 'Lift' }).click()
  await page.getByRole('dialog', { name: 'Lift' }).getByRole('button', { name: 'Lift' }).click()
  await expect.poll(() => stateOf(taskId)).toBe('completed')
  await expect.poll(() => page.locator('.notice.holding').count()).toBe(0)
  expect((await ops.holds()).map((hold) => hold.holdId)).not.toContain(holdId)
})

it('says that nobody is asked', async () => {
  const page = await visit('waiting')
  await page.getByText('Nobody waits for you').waitFor()
})
