/** A guide is short and has a program that runs: `commands.test.ts` runs what is shown as `sh`. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { documents, root } from './documents.ts'

const WORDS = 400

const guides = documents().filter(({ path }) => path.startsWith(join('docs', 'guides')))
/** A container engine runs these, and no test. `test/scenarios/{init,image}.test.ts` execute the Dockerfiles. */
const withoutProgram = [join('docs', 'guides', 'containers.md')]

it('finds every guide', () => {
  expect(guides).toHaveLength(readdirSync(join(root, 'docs/guides')).length)
})

it.each(guides.map((guide) => [guide.path, guide] as const))('%s', (path, { text, blocks }) => {
  const prose = text.replace(/^```.*?^```$/gms, '')
  expect(prose.split(/\s+/).filter((word) => word !== '').length).toBeLessThanOrEqual(WORDS)
  const runs = blocks.some(({ language }) => language === 'sh')
  expect(runs).toBe(!withoutProgram.includes(path))
})
