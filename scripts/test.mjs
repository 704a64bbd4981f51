/**
 * `npm test`: every check and every test. A failure does not stop the later ones, and
 * nothing is left out in silence: a skipped test counts as failed, and what could not run says so.
 * The last line is always `N passed, M failed`; the exit code is 1 when M > 0.
 *
 *   node scripts/test.mjs --only unit,lint     some of them, by the names below
 *   node scripts/test.mjs --fast               all that start no server: what to run before every commit
 */
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { bootstrap } from './bootstrap.mjs'
import { root, run } from './run.mjs'

const check = (name, command, ...args) => ({ name, command, args, isTests: false })
const tests = (name) => ({
  name,
  command: 'vitest',
  args: ['run', '--project', name],
  isTests: true,
})

const scratch = mkdtempSync(join(tmpdir(), 'lull-test-'))

const steps = [
  check('lint', 'biome', 'check', '.'),
  check('types', 'tsc', '--noEmit'),
  check('test types', 'tsc', '-p', 'tsconfig.test.json'),
  check('kit types', 'tsc', '-p', 'conformance'),
  check('dashboard types', 'tsc', '-p', 'dashboard'),
  check('layers', 'node', 'scripts/check-layers.mjs'),
  check('lockfile', 'node', 'scripts/lockfile.mjs'),
  check('supply', 'node', 'scripts/supply-chain.mjs'),
  check('commits', 'node', 'scripts/check-commits.mjs'),
  check('build', 'node', 'scripts/build.mjs'),
  // Scripts import what was built.
  { ...check('unused', 'knip'), needsBuild: true },
  { ...check('api', 'node', 'scripts/api.mjs'), needsBuild: true },
  {
    ...check('artifacts', 'node', 'scripts/gen-protocol-artifacts.mjs', '--check'),
    needsBuild: true,
  },
  { ...check('publint', 'publint', '--strict'), needsBuild: true },
  { ...check('attw', 'attw', '--pack', '.', '--profile', 'esm-only'), needsBuild: true },
  // Fails on dead links.
  { ...check('site', 'node', 'site/build.mjs'), needsBuild: true },
  tests('unit'),
  tests('delayed'),
  tests('postgres'),
  ...[
    'postgres-suites',
    'scenarios',
    'interop',
    'conformance',
    'browser',
    'docs',
    'seeds',
    'crash',
    'cluster',
  ].map((name) => ({
    ...tests(name),
    needsBuild: true,
  })),
  // Last: it judges by what the tests above did. When only some were chosen, it runs what it needs of the others.
  {
    ...check('promises', 'node', 'scripts/check-promises.mjs', '--reports', scratch),
    needsBuild: true,
  },
]

const slow = [
  'publint',
  'attw',
  'site',
  'postgres',
  'postgres-suites',
  'scenarios',
  'interop',
  'conformance',
  'browser',
  'docs',
  'seeds',
  'crash',
  'cluster',
  'promises',
]

const { only, fast } = parseArgs({
  options: { only: { type: 'string' }, fast: { type: 'boolean' } },
}).values
const chosen = choose()
// In a full run building is a check of its own; a part that needs dist gets a current one first.
await bootstrap({
  dist: !chosen.some(({ name }) => name === 'build') && chosen.some((s) => s.needsBuild),
})

const outcomes = []
let beside
for (const step of chosen.filter((one) => !isBeside(one))) {
  if (step.name !== 'build') beside ??= performBeside()
  if (step.name === 'promises') await beside
  heading(step)
  await perform(step)
}
await (beside ?? performBeside())
rmSync(scratch, { recursive: true })
report()

/** The checks, which use one core, and the tests that wait for other processes most of the time. */
function isBeside({ name, isTests }) {
  return isTests ? ['crash', 'cluster'].includes(name) : !['build', 'promises'].includes(name)
}

/** One after the other, after the build and while the other tests run. They print at the end. */
async function performBeside() {
  const held = []
  for (const step of chosen.filter(isBeside)) {
    const file = join(scratch, `${step.name}.txt`)
    const output = openSync(file, 'w')
    await perform(step, output)
    closeSync(output)
    held.push([step, file])
  }
  for (const [step, file] of held) {
    heading(step)
    console.log(readFileSync(file, 'utf8'))
  }
}

function heading({ name }) {
  console.log(`\n── ${name} ${'─'.repeat(76 - name.length)}`)
}

function choose() {
  if (fast) return steps.filter(({ name }) => !slow.includes(name))
  if (only === undefined) return steps
  const names = only.split(',')
  const unknown = names.filter((name) => !steps.some((step) => step.name === name))
  if (unknown.length === 0) return steps.filter((step) => names.includes(step.name))
  console.error(`unknown: ${unknown.join(', ')}. Known: ${steps.map((s) => s.name).join(', ')}`)
  process.exit(2)
}

function isBlocked(step) {
  return step.needsBuild && outcomes.some(({ name, failed }) => name === 'build' && failed > 0)
}

async function perform(step, output) {
  const started = Date.now()
  const outcome = isBlocked(step)
    ? refused('not run: the build failed')
    : await outcomeOf(step, output)
  outcomes.push({ ...outcome, name: step.name, seconds: (Date.now() - started) / 1000 })
}

async function outcomeOf(step, output) {
  if (step.isTests) return performTests(step, output)
  const more = step.name === 'promises' && only !== undefined ? ['--run-missing'] : []
  const code = await run(step.command, [...step.args, ...more], { output })
  return code === 0 ? { passed: 1, failed: 0, notes: [] } : refused(`exit code ${code}`)
}

async function performTests({ name, command, args }, output) {
  const file = join(scratch, `${name}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const more = ['--passWithNoTests', '--allowOnly=false']
  const code = await run(command, [...args, ...reporters, ...more], { output })
  if (!existsSync(file)) return refused(`vitest ended with code ${code} and without a result`)

  const files = JSON.parse(readFileSync(file, 'utf8')).testResults
  if (code === 0 && files.length === 0) {
    return refused('NO TEST FILES: nothing was proved here')
  }
  const outcome = tally(files)
  // An error outside any test, say an unhandled rejection, fails the run without failing a test.
  if (code === 0 || outcome.failed > 0) return outcome
  return { ...outcome, failed: 1, notes: [`vitest ended with code ${code}`] }
}

/** Everything that is not passed is failed: skipped, todo, and files that did not load. */
function tally(files) {
  const all = files.flatMap(({ name, status, assertionResults, message }) => {
    const path = relative(root, name)
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) {
      return [...assertionResults, { status, fullName: `did not load: ${message}` }].map(
        inFile(path),
      )
    }
    return assertionResults.map(inFile(path))
  })
  const notPassed = all.filter((test) => test.status !== 'passed')
  return {
    passed: all.length - notPassed.length,
    failed: notPassed.length,
    notes: notPassed.map((test) => `${test.status.toUpperCase()}: ${test.path}: ${test.fullName}`),
  }
}

function inFile(path) {
  return ({ status, fullName }) => ({ path, status, fullName })
}

function refused(why) {
  return { passed: 0, failed: 1, notes: [why] }
}

function report() {
  const sum = (key) => outcomes.reduce((total, outcome) => total + outcome[key], 0)
  console.log(`\n── result ${'─'.repeat(70)}`)
  const place = ({ name }) => steps.findIndex((step) => step.name === name)
  const inOrder = outcomes.toSorted((a, b) => place(a) - place(b))
  for (const { name, passed, failed, notes, seconds } of inOrder) {
    const mark = failed > 0 ? 'FAIL' : 'ok'
    const counts = passed + failed > 1 ? `  ${passed} passed, ${failed} failed` : ''
    console.log(`${mark.padEnd(5)} ${name.padEnd(11)} ${seconds.toFixed(1).padStart(6)} s${counts}`)
    for (const note of notes) console.log(`        ${note}`)
  }
  process.exitCode = sum('failed') > 0 ? 1 : 0
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
}
