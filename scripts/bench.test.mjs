import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './run.mjs'

/** Files of the build that the benchmarks load by name. No compiler checks these names. */
function loaded() {
  return ['harness', 'peers', 'rows', 'subjects'].flatMap((folder) =>
    readdirSync(join(root, 'bench', folder)).flatMap((file) => {
      const code = readFileSync(join(root, 'bench', folder, file), 'utf8')
      return [...code.matchAll(/\bload\('([^']+)\.js'\)/g)].map(([, name]) => name)
    }),
  )
}

it('let a benchmark load a file that had been renamed', () => {
  expect(loaded()).toContain('engine/engine')
  expect(loaded().filter((name) => !existsSync(join(root, 'src', `${name}.ts`)))).toEqual([])
})
