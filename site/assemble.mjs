/** Puts the pages of the site together. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { llmsText } from './contents.mjs'
import { commandPages, configurationPage, errorPages, httpPage, typePages } from './reference.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

export async function assemble(target) {
  rmSync(target, { recursive: true, force: true })
  cpSync(join(root, 'docs/images'), join(target, 'docs/images'), { recursive: true })
  const pages = [
    ...markdownIn('docs'),
    ...markdownIn('spec'),
    ...['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'README.md'].map(fileAt),
    ...examples(),
    ...errorPages(read('docs/errors.md')),
    ...typePages(join(root, 'etc/api')),
    ...(await commandPages()),
    await httpPage(),
    await configurationPage(),
    codingAgents,
    { path: 'index.md', text: home() },
  ]
  const known = new Set(pages.map(({ path }) => path))
  for (const { path, text } of pages) {
    const file = join(target, path)
    mkdirSync(dirname(file), { recursive: true })
    const linked = withLinks(path, text, known)
    writeFileSync(file, linked)
    // Once more as it is, for readers that take Markdown.
    const raw = join(target, 'public', path)
    mkdirSync(dirname(raw), { recursive: true })
    writeFileSync(raw, linked)
  }
  const { version } = JSON.parse(read('package.json'))
  writeFileSync(join(target, 'public', 'llms.txt'), llmsText(version))
}

/** The home page shows the agent of the README, which the tests compile. */
function home() {
  const [example] = /^```ts\n.*?^```$/ms.exec(read('README.md')) ?? []
  return readFileSync(new URL('./home.md', import.meta.url), 'utf8').replace(
    'EXAMPLE',
    () => example,
  )
}

const codingAgents = {
  path: 'reference/for-coding-agents.md',
  text: `# For coding agents

- \`/llms.txt\` of this site lists every page with the question that it answers.
- Every page is also Markdown: its address with \`.md\`, such as \`/docs/start.md\`.
- The npm package has the pages in \`node_modules/lull/docs\`. Begin with its \`README.md\`.
- \`lull init\` writes an \`AGENTS.md\` into a project: what replays, what must be a step, how to test, the commands. Each of its rules is covered by a test.
`,
}

const read = (path) => readFileSync(join(root, path), 'utf8')
const fileAt = (path) => ({ path, text: read(path) })

function markdownIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((path) => path.endsWith('.md'))
    .map((path) => fileAt(join(folder, path)))
}

function examples() {
  const files = readdirSync(join(root, 'examples')).filter((name) => /\.(mjs|ts)$/.test(name))
  const pages = files.map((name) => ({
    path: `examples/${name}.md`,
    text: `# ${basename(name)}\n\n\`\`\`js\n${read(`examples/${name}`)}\`\`\`\n`,
  }))
  const list = files.map((name) => `- [${name}](${name}.md)`).join('\n')
  return [
    ...pages,
    { path: 'examples/index.md', text: `# Examples\n\nEach is run by the tests.\n\n${list}\n` },
  ]
}

/** A link to a file of the repository that has a page leads to the page; one to any other file becomes plain text. */
function withLinks(path, text, known) {
  return text.replace(
    /(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)/g,
    (_, label, link, anchor = '') => {
      const target = join(dirname(path), link).replace(/\/$/, '')
      const page = [target, `${target}.md`, `${target}/README.md`, `${target}/index.md`].find(
        (one) => known.has(one),
      )
      if (page === undefined) return label
      return `[${label}](${relative(dirname(path), page) || basename(page)}${anchor})`
    },
  )
}
