/** Fails when a folder of `src/` imports one it may not. Read downwards: each row may use only what it lists. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { cruise } from 'dependency-cruiser'
import { root } from './run.mjs'

const mayImport = {
  core: [],
  ports: ['core'],
  engine: ['core', 'ports'],
  stores: ['core', 'ports'],
  wire: [],
  protocols: ['core', 'engine', 'wire'],
  client: ['core'],
  testing: ['core', 'ports', 'engine'],
  demo: ['core', 'engine', 'testing'],
  server: ['core', 'ports', 'engine', 'stores', 'protocols', 'wire', 'demo', 'testing'],
  cli: ['core', 'client', 'server', 'demo', 'testing'],
}

/** What a layer may use from outside `src/`; a layer not named here may use every runtime dependency. */
const mayUse = {
  core: { packages: [], builtins: [] },
  // It runs in browsers.
  client: { packages: [], builtins: [] },
  engine: { packages: ['zod', 'croner'], builtins: ['async_hooks'] },
}

const tests = '\\.test(-d)?\\.ts$|/test-support/'
const npm = [
  'npm',
  'npm-dev',
  'npm-peer',
  'npm-optional',
  'npm-bundled',
  'npm-no-pkg',
  'npm-unknown',
]
const oneOf = (names) => `(${names.join('|') || '$.'})`

const rule = (name, from, to) => ({
  name,
  severity: 'error',
  from: { pathNot: tests, ...from },
  to,
})

const forbidden = [
  { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
  // Newer parts of Node, such as node:sqlite, are unknown to the oldest one we run on.
  rule('every import resolves', {}, { couldNotResolve: true, pathNot: '^node:' }),
  // `testing` is the kit whose users bring their own test runner.
  rule(
    'nothing that ships needs a development dependency',
    { pathNot: `^src/testing/|${tests}` },
    { dependencyTypes: ['npm-dev'] },
  ),
  ...Object.entries(mayImport).map(([layer, allowed]) =>
    rule(
      `${layer} may import ${allowed.join(', ') || 'nothing'}`,
      { path: `^src/${layer}/` },
      { path: '^src/', pathNot: `^src/${oneOf([layer, ...allowed])}/` },
    ),
  ),
  ...['stores', 'protocols'].map((family) =>
    rule(
      `${family} do not know each other`,
      { path: `^src/${family}/([^/]+)/` },
      { path: `^src/${family}/`, pathNot: `^src/${family}/$1/` },
    ),
  ),
  ...Object.entries(mayUse).flatMap(([layer, { packages, builtins }]) => [
    rule(
      `${layer} may use these packages: ${packages.join(', ') || 'none'}`,
      { path: `^src/${layer}/` },
      { dependencyTypes: npm, pathNot: `node_modules/${oneOf(packages)}/` },
    ),
    rule(
      `${layer} may use these parts of Node: ${builtins.join(', ') || 'none'}`,
      { path: `^src/${layer}/` },
      { dependencyTypes: ['core'], pathNot: `^(node:)?${oneOf(builtins)}$` },
    ),
  ]),
]

const { output } = await cruise(
  ['src'],
  {
    validate: true,
    ruleSet: { forbidden },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    baseDir: root,
  },
  { extensions: ['.ts', '.js'], exportsFields: ['exports'], conditionNames: ['import', 'node'] },
)
const problems = output.summary.violations.map((v) => `${v.rule.name}: ${v.from} → ${v.to}`)

const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
for (const { name } of folders.filter((entry) => entry.isDirectory() && !mayImport[entry.name])) {
  problems.push(`src/${name} has no row: say what it may import`)
}
// Without a parser it understands, dependency-cruiser sees no modules and calls that a success.
const seen = output.modules.filter(({ source }) => source.startsWith('src/')).length
if (seen < 10) problems.push(`only ${seen} modules were read; is @swc/core installed?`)

for (const problem of problems) console.error(problem)
console.log(
  `${seen} modules, ${output.summary.totalDependenciesCruised} imports, ${problems.length} errors`,
)
process.exitCode = problems.length > 0 ? 1 : 0
