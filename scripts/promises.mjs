/**
 * The tables of promises in the docs, held against what tests did. Pure: texts and results in, problems and the page out.
 *
 * S1 Each row is proved by tests, deviates for a reason, or names what it comes with.
 * S2 Each test that a row cites was run and passed. A title of `it.each` stands for all tests made of it.
 * S3 The counts at the top of the page are made of the rows whose tests passed.
 */

export const PAGES = ['docs/evidence/seeds.md', 'docs/evidence/acp.md']

/** The sections that have rows, in the order of the page. */
export function sectionsOf(page) {
  return page
    .split(/^## /m)
    .slice(1)
    .map((text) => ({ title: text.split('\n', 1)[0], rows: rowsIn(text) }))
    .filter(({ rows }) => rows.length > 0)
}

function rowsIn(text) {
  return cellsIn(text)
    .filter(([number]) => /^[A-Z]\d+$/.test(number))
    .map(([number, promise, keptBy]) => ({ number, promise, keptBy, cited: citedIn(keptBy) }))
}

function cellsIn(text) {
  return [...text.matchAll(/^\| (.*) \|$/gm)].map(([, line]) => line.split(' | '))
}

/** `file > title`, each in a code span. */
function citedIn(keptBy) {
  const spans = keptBy.matchAll(/`([^`]+\.test\.ts) > ([^`]+)`/g)
  return [...spans].map(([, file, title]) => ({ file, title }))
}

export function kindOf({ keptBy, cited }) {
  if (/^later: \S/.test(keptBy)) return 'later'
  if (/^deviation: \S/.test(keptBy)) return 'deviation'
  return cited.length > 0 && keptBy.startsWith('`') ? 'proved' : undefined
}

/** What is wrong with the page itself, whatever tests say. */
export function mistakesIn(page) {
  const sections = sectionsOf(page)
  const legend = new Set(cellsIn(page.split(/^## /m)[0]).map(([name]) => name))
  return sections.flatMap(({ title, rows }) => {
    const letter = rows[0]?.number[0]
    const gap = rows.find(({ number }, at) => number !== `${letter}${at + 1}`)
    return [
      ...(gap === undefined ? [] : [`${gap.number}: not the next number of "${title}"`]),
      ...rows
        .filter((row) => kindOf(row) === undefined)
        .map(({ number }) => `${number}: kept by nothing`),
      ...rows.flatMap(({ number, keptBy }) => {
        const name = /^later: (.+)$/.exec(keptBy)?.[1]
        return name === undefined || legend.has(name)
          ? []
          : [`${number}: "${name}" is not explained`]
      }),
    ]
  })
}

/**
 * Holds the rows against results, each `{ file, title, status }`. `titlesOf(file)` are the titles in the source of that
 * test file, or undefined where it does not exist.
 */
export function judge(page, results, titlesOf) {
  const of = (file) => results.filter((result) => result.file === file)
  const problems = []
  const isKept = ({ number, cited }) => {
    const before = problems.length
    for (const { file, title } of cited) {
      const why = verdict(title, titlesOf(file), of(file))
      if (why !== undefined) problems.push(`${number}: ${file} > ${title}: ${why}`)
    }
    return problems.length === before
  }
  const counts = sectionsOf(page).map(({ title, rows }) => {
    const kept = rows.filter(isKept)
    const count = (kind) => kept.filter((row) => kindOf(row) === kind).length
    return [title, count('proved'), count('deviation'), count('later')]
  })
  return { problems, page: withCounts(page, counts) }
}

function verdict(title, titles, results) {
  if (titles === undefined) return 'no such file'
  if (!titles.has(title)) return 'no such test'
  const ran = results.filter((result) => sourceOf(result.title, titles) === title)
  if (ran.length === 0) return 'did not run'
  const bad = ran.find(({ status }) => status !== 'passed')
  return bad === undefined ? undefined : `${bad.status}: ${bad.title}`
}

/** The title in the source that a test was made of: itself, or else the fitting pattern that leaves least open. */
function sourceOf(title, titles) {
  if (titles.has(title)) return title
  const fitting = [...titles].filter((one) => patternOf(one).test(title))
  return fitting.sort((a, b) => fixedPart(b) - fixedPart(a))[0]
}

/** The places that `it.each` fills in. */
const PLACE = /%[sdifjo#$%]|\$[\w.]+/

export function patternOf(title) {
  const fixed = title.split(PLACE).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${fixed.join('[^]*')}$`)
}

const fixedPart = (title) => title.split(PLACE).join('').length

/** A text followed by a function: the title of a test, unless `describe` stands before it. */
const TITLE = /(\bdescribe(?:\.\w+)*)?\(\s*(['"`])((?:\\.|(?!\2)[^\\])*)\2,\s*(?:async\b\s*)?\(/g

export function titlesIn(code) {
  const found = [...code.matchAll(TITLE)].filter(([, group]) => group === undefined)
  return new Set(found.map(([, , , title]) => title.replace(/\\(.)/g, '$1')))
}

function withCounts(page, counts) {
  const lines = page.split('\n')
  const head = lines.findIndex((line) => line.startsWith('| document |'))
  if (head === -1) return page
  const rows = counts.map((cells) => `| ${cells.join(' | ')} |`)
  const end = lines.findIndex((line, at) => at > head && !line.startsWith('|'))
  lines.splice(head + 2, end - head - 2, ...rows)
  return lines.join('\n')
}
