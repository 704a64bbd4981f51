/** Every value of `lull` has an example in its comment, and each example compiles against the types of the package. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './documents.ts'

interface Value {
  readonly name: string
  readonly file: string
}

/** What `export { … } from '…'` of an entry names: all names, and those of values. */
function exportsOf(entry: string): { readonly names: readonly string[]; readonly values: Value[] } {
  const text = readFileSync(join(root, 'src', entry), 'utf8')
  const all = [...text.matchAll(/^export (type )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(
    ([, onlyTypes, list = '', file = '']) =>
      list
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
        .map((name) => ({
          name: name.replace('type ', ''),
          file: join('src', file),
          isType: onlyTypes !== undefined || name.startsWith('type '),
        })),
  )
  return { names: all.map(({ name }) => name), values: all.filter(({ isType }) => !isType) }
}

/** The comment directly before the declaration of the value. */
function exampleOf({ name, file }: Value): string | undefined {
  const text = readFileSync(join(root, file), 'utf8')
  const declared = text.search(
    new RegExp(`^export (async )?(function|class|const) ${name}\\b`, 'm'),
  )
  const before = text.slice(0, declared).trimEnd()
  if (declared < 0 || !before.endsWith('*/')) return undefined
  const comment = before.slice(before.lastIndexOf('/**')).replace(/^ \*[ ]?/gm, '')
  return /@example\n```ts\n([\s\S]*?)\n```/.exec(comment)?.[1]
}

it('no name is in `lull` and in `lull/engine`', () => {
  const engine = new Set(exportsOf('engine.ts').names)
  expect(exportsOf('index.ts').names.filter((name) => engine.has(name))).toEqual([])
})

/** A short agent whose outcome is that of a step. Its types once did not compile outside of this repository. */
const STEP_AS_OUTCOME = `import { agent } from 'lull'
export default agent({
  name: 'short',
  description: 'Returns what its step returns',
  run: (task) => task.step('greet', () => 'hello'),
})
`

it('every value of `lull` has an example that imports it and compiles, and so does a short agent', () => {
  const { values } = exportsOf('index.ts')
  const examples = values.map((value) => ({ ...value, code: exampleOf(value) ?? '' }))
  const without = examples.filter(
    ({ name, code }) => !new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from 'lull'`).test(code),
  )
  expect(without.map(({ name }) => name)).toEqual([])

  const folder = mkdtempSync(join(tmpdir(), 'lull-author-'))
  try {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules', 'lull'))
    symlinkSync(join(root, 'node_modules', '@types'), join(folder, 'node_modules', '@types'))
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
    for (const { name, code } of examples) writeFileSync(join(folder, `${name}.ts`), code)
    writeFileSync(join(folder, 'step-as-outcome.ts'), STEP_AS_OUTCOME)
    const compilerOptions = {
      strict: true,
      noEmit: true,
      noUnusedLocals: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    const tsc = join(root, 'node_modules', '.bin', 'tsc')
    const { stdout, status } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
