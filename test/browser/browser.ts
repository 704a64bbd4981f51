/**
 * A real Chromium from npm, and pages that fail their test on what nobody looks for: an error in the console, an exception,
 * a violation of the content security policy, a request to another host.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import chromium from '@sparticuz/chromium'
import {
  type Browser,
  type BrowserContextOptions,
  type Page,
  chromium as playwright,
} from 'playwright-core'

export async function openBrowser(): Promise<Browser> {
  return playwright.launch({
    ...(await executable()),
    // The arguments that the package suggests switch off the security that is tested here.
    args: ['--no-sandbox', '--no-zygote', '--disable-dev-shm-usage', '--hide-scrollbars'],
  })
}

/** The package has Chromium for Linux. Elsewhere an installed Chrome is used. */
async function executable(): Promise<{ executablePath: string } | { channel: string }> {
  if (process.platform !== 'linux') return { channel: 'chrome' }
  return { executablePath: await chromium.executablePath() }
}

/** How people look at the dashboard. Every page is checked in both. */
export const looks: readonly BrowserContextOptions[] = [
  { colorScheme: 'light', viewport: { width: 1_280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 320, height: 700 } },
]

/** As long as every test waits for a fact. */
const WAIT_MS = 60_000

export interface OpenPage {
  readonly page: Page
  /** What went wrong on the page. */
  readonly faults: string[]
}

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', ...options })
  context.setDefaultTimeout(WAIT_MS)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    // A server that is away is what some tests are about.
    if (message.type() === 'error' && !/ERR_CONNECTION|ERR_INCOMPLETE/.test(message.text())) {
      faults.push(message.text())
    }
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith('data:')) {
      faults.push(`asked ${request.url()}`)
    }
  })
  await page.goto(url)
  return { page, faults }
}

/** What axe calls serious, and whether the page is wider than the window. */
export async function barriersOn(page: Page): Promise<readonly string[]> {
  await page.evaluate(
    readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
  )
  const serious = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(): Promise<{
          violations: { id: string; impact: string; nodes: { html: string }[] }[]
        }>
      }
    }
    const { violations } = await axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
  })
  const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  return beyond > 0 ? [...serious, `${beyond} pixels too wide`] : serious
}
