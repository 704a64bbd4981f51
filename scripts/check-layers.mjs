/**
 * `npm run layers`: fails when a file of `src/` imports what its layer may not, or reads the clock or chance of the
 * process where they come in as dependencies. It reads the text of every import and re-export, types included, so no
 * spelling of a dependency is invisible to it. Cycles are found by the linter.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importsOf, problemsIn } from './layers.mjs'
import { root } from './run.mjs'
import { sourcesIn } from './sources.mjs'

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const runtime = Object.keys({
    ...dependencies,
    ...optionalDependencies,
    ...peerDependencies,
  })
  const files = sourcesIn('src')
  const problems = problemsIn(files, runtime)
  for (const problem of problems) console.error(problem)
  const imports = files.reduce((sum, { text }) => sum + importsOf(text).length, 0)
  console.log(`${files.length} files, ${imports} imports, ${problems.length} errors`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
