/** The site of the documentation. No page asks anything from elsewhere: fonts are the system's, the search is local. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { contents } from '../contents.mjs'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const page = (text, link) => ({ text, link })
const documents = contents().map(({ text, items }) => ({
  text,
  items: items.map((item) => page(item.text, `/${item.path.replace('.md', '')}`)),
}))
const added = (title, ...items) => {
  documents.find(({ text }) => text === title)?.items.push(...items)
}
added('Write agents', page('Examples', '/examples/'))
added('Protocols', page('A2A extensions', '/spec/README'))

/** What git prints; undefined outside of a clone. */
function git(...args) {
  try {
    return execFileSync('git', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}
const commit = git('rev-parse', '--short', 'HEAD') ?? 'no commit'
/** The site of a release is built from its tag, with its name as `--base`. */
const others = (git('tag', '--list', 'v*', '--sort=-version:refname') ?? '')
  .split('\n')
  .filter((tag) => tag !== '' && tag !== `v${version}`)

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export
export default {
  title: 'Lull',
  description: 'A runtime for AI-agent tasks that can stop without losing their place',
  lang: 'en',
  srcDir: 'pages',
  // Copied as it is: llms.txt, and each page as Markdown.
  srcExclude: ['public/**'],
  outDir: 'dist',
  cleanUrls: true,
  themeConfig: {
    search: { provider: 'local' },
    footer: {
      message: `Lull ${version}, commit ${commit}, built ${new Date().toISOString().slice(0, 10)}. Apache-2.0.`,
    },
    nav: [
      page('Start', '/docs/start'),
      page('Guides', '/docs/guides/wait-for-ci'),
      page('Agents', '/docs/agents'),
      page('Operate', '/docs/configuration'),
      page('Reference', '/reference/commands'),
      {
        text: version,
        items: [
          page('What is new', '/CHANGELOG'),
          page('For coding agents', '/reference/for-coding-agents'),
          ...others.map((tag) => ({ text: tag, link: `/${tag}/`, target: '_self' })),
        ],
      },
    ],
    sidebar: [
      ...documents,
      {
        text: 'Reference',
        items: [
          page('Commands', '/reference/commands'),
          page('Operations over HTTP', '/reference/ops'),
          page('Types', '/reference/types/list'),
          page('Settings', '/reference/configuration'),
          page('For coding agents', '/reference/for-coding-agents'),
        ],
      },
      {
        text: 'Evidence',
        items: [
          page('Promises and proofs', '/docs/evidence/seeds'),
          page('ACP: promises and clients', '/docs/evidence/acp'),
          page('Clients of others: reports', '/docs/evidence/interop'),
          page('Several processes, by hand', '/docs/evidence/scale'),
          page('Overload', '/docs/evidence/security'),
          page('The first agent, by the clock', '/docs/evidence/first-agent'),
        ],
      },
    ],
  },
}
