/** Pages that code writes: commands, `/ops`, types, settings, error codes. Needs `dist`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { commands } from '../dist/cli/all-commands.js'
import { helpFor } from '../dist/cli/command-texts.js'

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

/** The settings of the file, from the schema that checks it and the defaults that are in effect without it. */
export async function configurationPage() {
  const { serverConfig } = await import('../dist/server/settings/config.js')
  const { defaultOptions: engine } = await import('../dist/engine/options.js')
  const { defaultConfig: a2a } = await import('../dist/protocols/a2a/config.js')
  const { defaultConfig: acp } = await import('../dist/protocols/acp/connection/context.js')
  const { defaultLimits: limits } = await import('../dist/server/auth/admission.js')
  const schema = z.toJSONSchema(serverConfig, { io: 'input', unrepresentable: 'any' })
  const rows = settingsIn(schema, '', { engine, a2a, acp, limits })
  const text = [
    '# Settings of the file',
    'Every field of the configuration file, with what it takes and its default. [Configuration](../docs/configuration.md) says what each means, and has the flags and variables.',
    ['| field | takes | default |', '|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')
  return { path: 'reference/configuration.md', text }
}

function settingsIn({ properties = {} }, before, defaults = {}) {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${before}${name}`
    if (schema.properties !== undefined) return settingsIn(schema, `${path}.`, defaults[name])
    const value = defaults[name]
    const shown = value === undefined ? '' : `\`${JSON.stringify(value)}\``
    return [`| \`${path}\` | ${takes(name, schema)} | ${shown} |`]
  })
}

function takes(name, schema) {
  if (name.endsWith('Ms')) return 'milliseconds, or a text such as `"30 days"`'
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${one}\``).join(', ')
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => takes(name, one)).join(', or ')
  if (schema.type === 'array') return `a list: ${takes(name, schema.items)}`
  return (
    { string: 'text', boolean: '`true` or `false`', object: 'an object' }[schema.type] ?? 'a number'
  )
}

/** One page per code, so that a message can link to it: codes with a section, and codes with a row of a table. */
export function errorPages(all) {
  const [, ...sections] = all.split(/^## /m)
  const pages = new Map()
  for (const section of sections) {
    const end = section.indexOf('\n')
    const [code, text] = [section.slice(0, end), section.slice(end)]
    if (/^[A-Z_]+$/.test(code)) pages.set(code, text)
    for (const [, row, http, means] of text.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (.*) \|$/gm)) {
      const own = `HTTP ${http}: ${means}.`
      pages.set(row, pages.has(row) ? `${pages.get(row)}\n${own}\n` : `\n${own}\n`)
    }
  }
  return [...pages].map(([code, text]) => ({
    path: `errors/${code}.md`,
    text: `# ${code}\n${text.replace(/\]\((?!https?:)/g, '](../docs/')}\n[All errors](../docs/errors.md)\n`,
  }))
}
