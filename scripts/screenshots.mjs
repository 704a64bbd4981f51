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
const server = spawn(
  process.execPath,
  [join(root, 'dist/cli/main.js'), 'demo', '--json', '--port', '0', '--data', data],
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
  const parked = await fill(url)
  mkdirSync(folder, { recursive: true })
  const linux = process.platform === 'linux'
  const browser = await playwright.launch({
    ...(linux ? { executablePath: await chromium.executablePath() } : { channel: 'chrome' }),
    args: ['--no-sandbox', '--no-zygote', '--disable-dev-shm-usage', '--hide-scrollbars'],
  })
  try {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 640 } })
    await page.goto(`${url}/dashboard/`)
    await page.locator('.card').nth(4).waitFor()
    await page.screenshot({ path: join(folder, 'board.png') })
    await page.goto(`${url}/dashboard/tasks/${parked}`)
    await page.getByText('verified by the server').waitFor()
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.screenshot({ path: join(folder, 'task.png') })
  } finally {
    await browser.close()
  }
  say(`wrote board.png and task.png to ${folder}`)
}

/** Tasks in every column. Resolves to the id of one that is parked. */
async function fill(url) {
  const send = (agent, text, options) =>
    createClient({ url: `${url}/agents/${agent}` }).send(text, options)
  const parked = await send('builder', 'Run build 1234 of main')
  await send('travel', 'Book a flight to Helsinki for next week.')
  await send('painter', 'Generate an image of a sailboat on the ocean.')
  await send('script', '{"script": [{"step": "check"}, {"fail": "The disk is full"}]}')
  const long = { script: [{ repeat: 500, ops: [{ step: 'index page', ms: 1_000 }] }] }
  await send('script', JSON.stringify(long), { returnImmediately: true })
  return parked.task.id
}
