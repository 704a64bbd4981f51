/** Pages that code writes: commands, `/ops`, types, error codes. Needs `dist`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands } from '../dist/cli/commands.js'
import { helpFor } from '../dist/cli/help.js'

const plain = (_, text) => text
const fenced = (language, text) => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`

export async function commandPages() {
  const section = (command) =>
    `## lull ${command.name}\n\n${fenced('text', helpFor(command, plain, 'lull'))}`
  const text = [
    '# Commands',
    'In a clone, `npm run -s lull -- <command>` runs the same. Exit codes: 0 ok, 1 refused, 2 wrong usage, 3 server unreachable, 4 the task failed, was rejected or was canceled.',
    ...commands.map(section),
  ].join('\n\n')
  return [{ path: 'reference/commands.md', text }]
}

export async function httpPage() {
  const { openApi } = await import('../dist/protocols/ops/openapi.js')
  const { opsRoutes, opsStreams } = await import('../dist/protocols/ops/routes.js')
  const { paths } = openApi(opsRoutes, opsStreams)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationText(path, method, operation)),
  )
  const text = [
    '# Operations over HTTP',
    'A running server gives the same as OpenAPI 3.1 at `/ops/openapi.json`.',
    ...operations,
  ].join('\n\n')
  return { path: 'reference/ops.md', text }
}

function operationText(path, method, { summary, parameters = [], requestBody, responses }) {
  const rows = parameters.map(
    ({ name, in: place, schema = {} }) =>
      `| \`${name}\` | ${place} | \`${JSON.stringify(schema)}\` |`,
  )
  const json = (content) => content?.['application/json']?.schema
  const shown = (title, schema) =>
    schema === undefined ? [] : [title, fenced('json', JSON.stringify(schema, null, 2))]
  return [
    `## \`${method.toUpperCase()} ${path}\``,
    `${summary}.`,
    rows.length > 0 ? `| parameter | in | schema |\n|---|---|---|\n${rows.join('\n')}` : '',
    ...shown('Body:', json(requestBody?.content)),
    ...shown('Answer:', json(responses?.[200]?.content)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** The API reports, which the build compares with the code: one page per entry point. */
export function typePages(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.api.md'))
  const entryOf = (name) =>
    name === 'index.api.md' ? 'lull' : `lull/${name.replace('.api.md', '')}`
  const pages = names.map((name) => ({
    path: `reference/types/${name.replace('.api.md', '')}.md`,
    text: readFileSync(join(folder, name), 'utf8').replace(/^## .*\n/, `# ${entryOf(name)}\n`),
  }))
  const list = names
    .map((name) => `- [${entryOf(name)}](${name.replace('.api.md', '')}.md)`)
    .join('\n')
  return [...pages, { path: 'reference/types/list.md', text: `# Types\n\n${list}\n` }]
}

/** One page per code, so that a message can link to it. */
export function errorPages(all) {
  const [, ...sections] = all.split(/^## /m)
  return sections.map((section) => {
    const code = section.slice(0, section.indexOf('\n'))
    const text = section.slice(section.indexOf('\n')).replace(/\]\((?!https?:)/g, '](../docs/')
    return {
      path: `errors/${code}.md`,
      text: `# ${code}\n${text}\n[All errors](../docs/errors.md)\n`,
    }
  })
}
