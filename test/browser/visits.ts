/** A browser for the tests of one file, and pages of a dashboard that must show no fault when their test ends. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type OpenPage, openBrowser, openPage } from './browser.ts'

export interface Visits {
  readonly browser: () => Browser
  /** Opens a page of the dashboard. It is closed when the test ends. */
  visit(path?: string, options?: BrowserContextOptions): Promise<Page>
  /** What goes wrong on the pages of this test because the test wants it to. */
  allowFault(pattern: RegExp): void
}

/** @param url of the server, asked at each visit: a test may have started another one */
export function visitsTo(url: () => string): Visits {
  let browser: Browser
  let open: OpenPage[] = []
  let allowed: RegExp[] = []

  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())
  afterEach(async () => {
    const faults = open.flatMap((one) => one.faults)
    const unexpected = faults.filter((fault) => !allowed.some((pattern) => pattern.test(fault)))
    for (const { page } of open) await page.context().close()
    open = []
    allowed = []
    expect(unexpected).toEqual([])
  })

  return {
    browser: () => browser,
    async visit(path = '', options = {}) {
      const opened = await openPage(browser, `${url()}/dashboard/${path}`, options)
      open.push(opened)
      return opened.page
    },
    allowFault(pattern) {
      allowed.push(pattern)
    },
  }
}
