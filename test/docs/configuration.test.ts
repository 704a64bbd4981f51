import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defaultOptions } from '../../src/engine/options.ts'
import { defaultConfig } from '../../src/protocols/a2a/config.ts'
import { defaultConfig as acpConfig } from '../../src/protocols/acp/connection/context.ts'
import { serverConfig } from '../../src/server/settings/config.ts'
import { documents, root } from './documents.ts'

const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8')

const fields = [
  ...Object.keys(defaultOptions).map((name) => `engine.${name}`),
  ...Object.keys(defaultConfig).map((name) => `a2a.${name}`),
  ...Object.keys(acpConfig).map((name) => `acp.${name}`),
]

it.each(fields)('explains %s', (field) => {
  expect(page).toContain(`\`${field}\``)
})

it('shows a file the server would take', () => {
  const document = documents().find(({ path }) => path === join('docs', 'configuration.md'))
  const example = document?.blocks.find(({ language }) => language === 'json')
  expect(() => serverConfig.parse(JSON.parse(example?.text ?? ''))).not.toThrow()
})
