/**
 * Takes the pictures of the documents: starts the demo in an empty directory, sends it some messages, and photographs the
 * dashboard.
 *
 *   node scripts/screenshots.mjs [folder]     default docs/images; build before
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'
import { createClient } from '../dist/client/index.js'
import { root, say } from './run.mjs'

const folder = resolve(process.argv[2] ?? join(root, 'docs', 'images'))
const data = mkdtempSync(join(tmpdir(), 'lull-screenshots-'))
const main = join(root, 'dist/cli/main.js')
const agents = join(root, 'scripts/screenshot-agents.mjs')
const server = spawn(
  process.execPath,
  [main, 'serve', agents, '--json', '--port', '0', '--data', data],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
try {
  await takePictures(await addressOf(server))
} finally {
  server.kill('SIGTERM')
  await new Promise((done) => server.once('close', done))
  rmSync(data, { recursive: true })
}

async function addressOf({ stdout }) {
  for await (const line of createInterface(stdout)) return JSON.parse(line).url
  throw new Error('the server ended before it served')
}

async function takePictures(url) {
  const task = await fill(url)
  mkdirSync(folder, { recursive: true })
  const linux = process.platform === 'linux'
  const browser = await playwright.launch({
    ...(linux ? { executablePath: await chromium.executablePath() } : { channel: 'chrome' }),
    args: ['--no-sandbox', '--no-zygote', '--disable-dev-shm-usage', '--hide-scrollbars'],
  })
  try {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 640 } })
    const take = (name) => page.screenshot({ path: join(folder, `${name}.png`) })
    await page.setViewportSize({ width: 1_280, height: 800 })
    await page.goto(`${url}/dashboard/`)
    await page.locator('.figures-row').waitFor()
    await take('overview')
    await page.setViewportSize({ width: 1_280, height: 640 })
    await page.goto(`${url}/dashboard/board`)
    await page.locator('.card').nth(5).waitFor()
    await take('board')
    await page.goto(`${url}/dashboard/schedules`)
    await page.locator('.block').nth(1).waitFor()
    await take('schedules')
    await page.goto(`${url}/dashboard/waiting`)
    await page.locator('.q').waitFor()
    await take('waiting')
    await page.setViewportSize({ width: 1_280, height: 800 })
    // Before the page opens, because colours change gradually.
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.goto(`${url}/dashboard/tasks/${task}`)
    await page.getByText('verified now').waitFor()
    await page.locator('.scale').waitFor()
    await take('task')
    await page.setViewportSize({ width: 390, height: 760 })
    await page.goto(`${url}/dashboard/waiting`)
    await page.locator('.q').waitFor()
    await take('phone')
  } finally {
    await browser.close()
  }
  say(`wrote overview, board, schedules, waiting, task and phone to ${folder}`)
}

/** Tasks in every column. Resolves to the id of the one with the longest timeline. */
async function fill(url) {
  const at = (agent) => createClient({ url: `${url}/agents/${agent}` })
  const send = (agent, text, options) => at(agent).send(text, options)
  await send('builder', 'Run build 1234 of main')
  await send('travel', 'Book a flight to Helsinki for next week.')
  await send('painter', 'Generate an image of a sailboat on the ocean.')
  await send('script', '{"script": [{"step": "check"}, {"fail": "The disk is full"}]}')
  await send('indexer', 'Index example.com', { returnImmediately: true })
  const sent = await send('release', 'Release 2.1 when its tests pass')
  const { id } = sent.task
  const client = at('release')
  await client.answer(id, 'yes')
  await client.waitFor(id, 'paused-by-agent')
  await client.remind(id, 'Mention the new dashboard in the notes')
  await client.resume(id)
  await client.waitFor(id, ({ suspension }) => suspension?.reason === 'announced tomorrow')
  return id
}
