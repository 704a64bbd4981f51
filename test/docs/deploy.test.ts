/** The files of docs/deploy name variables, flags and files that exist, and have the form their readers expect. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve } from '../../src/cli/commands/serve.ts'
import { root } from './documents.ts'

const folder = join(root, 'docs/deploy')
const files = readdirSync(folder).map((name) => [name, read(name)] as const)
const configuration = readFileSync(join(root, 'docs/configuration.md'), 'utf8')

function read(name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}

it.each(files)('%s names variables of the configuration, and flags of lull serve', (_, text) => {
  for (const [variable] of text.matchAll(/\bLULL_[A-Z_]+/g))
    expect(configuration).toContain(variable)
  for (const [, flags = ''] of text.matchAll(/\blull serve (.*)$/gm)) {
    for (const [, flag = ''] of flags.matchAll(/--([a-z-]+)/g)) {
      expect(Object.keys(serve.flags)).toContain(flag)
    }
  }
})

it.each(['lull@.service', 'pgbouncer.ini'])(
  '%s has sections, and a value for each name',
  (name) => {
    const lines = read(name)
      .split('\n')
      .filter((line) => line !== '' && !/^[#;]/.test(line))
    expect(lines[0]).toMatch(/^\[\w+\]$/)
    for (const line of lines) expect(line).toMatch(/^(\[\w+\]|\w+ ?= ?\S.*)$/)
  },
)

it('compose.yaml has services whose volumes and dependencies exist', () => {
  const lines = read('compose.yaml')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  for (const line of lines) {
    expect(line).toMatch(/^(?: {2})*(?:- \S.*|[\w.]+:(?: \S.*)?)$/)
  }
  const names = (above: string): readonly string[] => {
    const [, block = ''] =
      new RegExp(`^${above}:\\n((?: {2}.*\\n)+)`, 'm').exec(read('compose.yaml')) ?? []
    return [...block.matchAll(/^ {2}(\w+):/gm)].map(([, name = '']) => name)
  }
  expect(names('services')).toEqual(['postgres', 'lull', 'front'])
  expect(names('volumes')).toEqual(['postgres'])
  expect(readdirSync(folder)).toContain('nginx.conf')
})

it('docs/scale.md links to each of them', () => {
  const text = readFileSync(join(root, 'docs/scale.md'), 'utf8')
  for (const [name] of files) expect(text).toContain(`(deploy/${name})`)
})
