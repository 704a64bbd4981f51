/** The pages of the site: every document is in the side bar, every link of it has a page, every error code has one. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commands } from '../../src/cli/all-commands.ts'
import { defaultOptions } from '../../src/engine/options.ts'
import { faultOf } from '../../src/protocols/a2a/errors/faults.ts'
import { opsRoutes, opsStreams } from '../../src/protocols/ops/routes.ts'
import { documents, root } from './documents.ts'

interface Link {
  readonly link: string
  readonly text: string
}

let pages: string
let links: readonly Link[]
beforeAll(async () => {
  pages = mkdtempSync(join(tmpdir(), 'lull-site-'))
  const at = (path: string) => import(join(root, 'site', path))
  const { assemble } = (await at('assemble.mjs')) as { assemble(target: string): Promise<void> }
  await assemble(pages)
  const { default: config } = (await at('.vitepress/config.mjs')) as {
    default: { themeConfig: { nav: (Link | { items: Link[] })[]; sidebar: { items: Link[] }[] } }
  }
  const { nav, sidebar } = config.themeConfig
  links = [...nav, ...sidebar].flatMap((one) => ('items' in one ? one.items : [one]))
})
afterAll(() => rmSync(pages, { recursive: true }))

const read = (path: string) => readFileSync(join(pages, path), 'utf8')

it('every link of the navigation has a page', () => {
  const hasPage = ({ link }: Link) =>
    ['.md', '/index.md', 'index.md'].some((end) => existsSync(join(pages, `${link}${end}`)))
  expect(links.filter((one) => !hasPage(one))).toEqual([])
})

it('llms.txt lists the pages for users, and each is there as Markdown', () => {
  const list = read('public/llms.txt')
  const listed = [...list.matchAll(/\]\(\/([^)]+\.md)\)/g)].map(([, path = '']) => path)
  expect(listed.filter((path) => !existsSync(join(pages, 'public', path)))).toEqual([])
  const forUsers = documents()
    .map(({ path }) => path)
    .filter((path) => /^docs\/(?!decisions|evidence|README)/.test(path))
  expect(listed).toEqual(expect.arrayContaining(forUsers))
  // Each line says which question its page answers.
  for (const line of list.match(/^- .*$/gm) ?? []) expect(line).toMatch(/\?$/)
})

it('the home page shows the agent of the README, and pictures that exist', () => {
  expect(read('index.md')).toContain('await task.park(')
  const pictures = [...read('index.md').matchAll(/\]\((docs\/images\/[^)]+)\)/g)]
  expect(pictures).toHaveLength(2)
  for (const [, path = ''] of pictures) expect(existsSync(join(pages, path))).toBe(true)
})

it('every document is in the side bar, apart from decisions', () => {
  const shown = new Set(links.map(({ link }) => `${link.slice(1)}.md`))
  const missing = documents()
    .map(({ path }) => path)
    .filter((path) => /^docs\/(?!decisions|README)/.test(path))
    .filter((path) => !shown.has(path))
  expect(missing).toEqual([])
})

it.each([
  'pause-for-review',
  'wait-for-ci',
  'schedule',
  'budgets',
  'ask-and-consent',
  'reminders',
  'stream-text',
  'editors',
  'cluster',
  'security',
  'observability',
  'deploy-changed-code',
])('has the guide %s', (name) => {
  expect(links.map(({ link }) => link)).toContain(`/docs/guides/${name}`)
})

it.each(['a2a-js', 'harn', 'temporal', 'langgraph'])('has a page for those from %s', (name) => {
  expect(links.map(({ link }) => link)).toContain(`/docs/coming-from/${name}`)
})

it('has a page for each error code, also for those outside the protocols', () => {
  const codes = readdirSync(join(pages, 'errors')).map((name) => name.replace('.md', ''))
  expect(codes).toEqual(expect.arrayContaining(Object.keys(faultOf)))
  expect(codes).toEqual(expect.arrayContaining(['UNAUTHENTICATED', 'HOST_NOT_ALLOWED', 'INTERNAL']))
  expect(codes.filter((code) => !/^[A-Z_]+$/.test(code))).toEqual([])
})

it('makes the reference from the code: commands, settings, /ops', () => {
  for (const { name } of commands)
    expect(read('reference/commands.md')).toContain(`## lull ${name}`)
  for (const name of Object.keys(defaultOptions)) {
    expect(read('reference/configuration.md')).toContain(`\`engine.${name}\``)
  }
  for (const { method, path } of [...opsRoutes, ...opsStreams]) {
    expect(read('reference/ops.md')).toContain(`\`${method} ${path}\``)
  }
})
