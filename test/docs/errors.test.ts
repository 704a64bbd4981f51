import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { faultOf, faults } from '../../src/protocols/a2a/errors/faults.ts'
import { root } from './documents.ts'

const sections = new Map(
  readFileSync(join(root, 'docs/errors.md'), 'utf8')
    .split(/^## /m)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
)

it.each(Object.entries(faultOf))('explains %s, with the numbers A2A gives it', (code, fault) => {
  const section = sections.get(code)
  expect(section).toBeDefined()
  const { code: number, http } = faults[fault]
  if (fault !== 'INTERNAL') expect(section).toContain(`A2A ${number}, ${http}`)
})
