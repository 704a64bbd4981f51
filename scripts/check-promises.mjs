/**
 * The tables of promises in the docs cite a test for each row. Fails unless each of them was run and passed, and unless the
 * counts at the top of a page are those that follow.
 *
 *   node scripts/check-promises.mjs --reports DIR   judges by the reports (vitest, JSON) that a run of tests left there
 *   node scripts/check-promises.mjs                 runs the cited tests, by file and name; needs a build
 *   … --run-missing                                 runs those of files that the reports lack
 *   … --write                                       writes the counts
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { judge, mistakesIn, PAGES, patternOf, sectionsOf, titlesIn } from './promises.mjs'
import { root, run } from './run.mjs'

const { values } = parseArgs({
  options: {
    reports: { type: 'string' },
    'run-missing': { type: 'boolean' },
    write: { type: 'boolean' },
  },
})
const pages = PAGES.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
const cited = pages
  .flatMap(({ text }) => sectionsOf(text))
  .flatMap(({ rows }) => rows.flatMap((row) => row.cited))

const results = values.reports === undefined ? [] : resultsIn(values.reports)
if (values.reports === undefined || values['run-missing']) results.push(...(await runMissing()))

const problems = pages.flatMap(({ path, text }) => {
  const judged = judge(text, results, titlesOf)
  if (values.write) writeFileSync(join(root, path), judged.page)
  const isCounted = values.write || judged.page === text
  const wrong = isCounted ? [] : ['the counts at the top are not those of the rows']
  return [...mistakesIn(text), ...judged.problems, ...wrong].map((problem) => `${path}: ${problem}`)
})
for (const problem of problems) console.error(problem)
const count = new Set(cited.map(({ file, title }) => `${file} > ${title}`)).size
console.log(`${count} tests cited, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0

function titlesOf(file) {
  const source = join(root, file)
  return existsSync(source) ? titlesIn(readFileSync(source, 'utf8')) : undefined
}

function resultsIn(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).testResults)
    .flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ title, status }) => ({
        file: relative(root, name).replaceAll('\\', '/'),
        title,
        status,
      })),
    )
}

/** Runs the cited tests of files without a result, and no others of these files. */
async function runMissing() {
  const have = new Set(results.map(({ file }) => file))
  const missing = cited.filter(({ file }) => !have.has(file) && existsSync(join(root, file)))
  if (missing.length === 0) return []
  const folder = mkdtempSync(join(tmpdir(), 'lull-promises-'))
  const files = [...new Set(missing.map(({ file }) => file))]
  // vitest matches the names of the groups and the test together, so the beginning stays open.
  const names = missing.map(({ title }) => patternOf(title).source.slice(1))
  await run('vitest', [
    'run',
    ...files,
    '--testNamePattern',
    `(${[...new Set(names)].join('|')})`,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${join(folder, 'cited.json')}`,
  ])
  const found = resultsIn(folder)
  rmSync(folder, { recursive: true })
  return found
}
