/** The TypeScript in the documents compiles against what the package exports. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { documents, root } from './documents.ts'

/** Inside the package, so that `lull` means the package itself. */
const directory = join(root, 'node_modules', '.cache', 'doc-examples')
beforeAll(() => {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
})
afterAll(() => rmSync(directory, { recursive: true }))

/** What the examples leave to the reader's imagination. */
const imagined = `
declare const ci: {
  start(plan: Plan, key: string): Promise<{ id: string }>
  release(plan: Plan, key: string): Promise<null>
}
declare function makePlan(text: string, signal: AbortSignal): Promise<Plan>
interface Plan { sha: string, patch: string }
`

const examples = documents().flatMap(({ path, blocks }) =>
  blocks
    // What imports nothing of ours is an excerpt of something that is compiled elsewhere.
    .filter(({ language, text }) => language === 'ts' && /from 'lull/.test(text))
    .map(({ text }, index) => [`${path} ${index + 1}`, text] as const),
)

it('finds the example of the README', () => {
  expect(examples.map(([name]) => name)).toContain('README.md 1')
})

it.each(examples)('%s', (name, text) => {
  const file = join(directory, `${name.replace(/\W/g, '-')}.mts`)
  writeFileSync(file, `${text}${imagined}`)
  const options = [
    '--noEmit',
    '--ignoreConfig',
    '--strict',
    '--skipLibCheck',
    '--types',
    'node',
    '--lib',
    'es2023',
  ]
  const target = ['--target', 'es2023', '--module', 'nodenext']
  const tsc = join(root, 'node_modules', '.bin', 'tsc')
  const { stdout, status } = spawnSync(tsc, [...options, ...target, file], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
  expect(status).toBe(0)
})
