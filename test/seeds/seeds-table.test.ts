/** `docs/seeds.md` is true: every row is kept by a test that exists, a deviation with its reason, or something to come. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import config from '../../vitest.config.ts'

const root = new URL('../../', import.meta.url)
const page = readFileSync(new URL('docs/seeds.md', root), 'utf8')

interface Row {
  readonly number: string
  readonly promise: string
  readonly keptBy: string
}

const sections = page
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ title: text.split('\n', 1)[0] ?? '', rows: rowsIn(text) }))
const rows = sections.flatMap((section) => section.rows)

function rowsIn(text: string): readonly Row[] {
  return tableIn(text)
    .filter((cells) => /^[A-Z]\d+$/.test(cells[0] ?? ''))
    .map(([number = '', promise = '', keptBy = '']) => ({ number, promise, keptBy }))
}

function tableIn(text: string): readonly (readonly string[])[] {
  return [...text.matchAll(/^\| (.*) \|$/gm)].map(([, line = '']) => line.split(' | '))
}

type Kind = 'proved' | 'deviation' | 'later'

function kindOf({ keptBy }: Row): Kind | undefined {
  if (/^later: \S/.test(keptBy)) return 'later'
  if (/^deviation: \S/.test(keptBy)) return 'deviation'
  return testsIn({ keptBy }).length > 0 && keptBy.startsWith('`') ? 'proved' : undefined
}

/** `file > title`, each in a code span. */
function testsIn({ keptBy }: Pick<Row, 'keptBy'>): readonly (readonly [string, string])[] {
  return [...keptBy.matchAll(/`([^`]+\.test\.ts) > ([^`]+)`/g)].map(
    ([, file = '', title = '']) => [file, title] as const,
  )
}

/** A text followed by a function: the title of a test, unless `describe` stands before it. */
const TITLE = /(\bdescribe(?:\.\w+)*)?\(\s*(['"`])((?:\\.|(?!\2)[^\\])*)\2,\s*(?:async\b\s*)?\(/g

function titlesIn(file: string): ReadonlySet<string> {
  const code = readFileSync(new URL(file, root), 'utf8')
  const found = [...code.matchAll(TITLE)].filter(([, group]) => group === undefined)
  return new Set(found.map(([, , , title = '']) => title.replace(/\\(.)/g, '$1')))
}

it('has a section for each of the five documents', () => {
  expect(sections.map(({ title }) => title)).toEqual([
    'Life of a Task (A2A)',
    'PAUSED state RFC (A2A)',
    'Reminders RFC (A2A)',
    'session/suspend RFC (ACP)',
    'Pause & Resume (Bindu)',
  ])
})

describe.each(sections)('$title', ({ title, rows }) => {
  it('numbers its promises without a gap', () => {
    const letter = rows[0]?.number[0]
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, at) => `${letter}${at + 1}`))
  })

  it('is counted right at the top of the page', () => {
    const [, ...counts] = tableIn(page).find(([name]) => name === title) ?? []
    const count = (kind: Kind): string => `${rows.filter((row) => kindOf(row) === kind).length}`
    expect(counts).toEqual([count('proved'), count('deviation'), count('later')])
  })
})

it('has every promise proved, deviated from for a reason, or still to come', () => {
  const loose = rows.filter((row) => kindOf(row) === undefined)
  expect(loose).toEqual([])
})

it('names only tests that exist', () => {
  const titles = new Map<string, ReadonlySet<string>>()
  const has = (file: string, title: string): boolean => {
    if (!existsSync(new URL(file, root))) return false
    const known = titles.get(file) ?? titlesIn(file)
    titles.set(file, known)
    return known.has(title)
  }
  const named = rows.flatMap(testsIn)
  expect(named.length).toBeGreaterThan(0)
  const missing = named.filter(([file, title]) => !has(file, title))
  expect([...new Set(missing.map((one) => one.join(' > ')))]).toEqual([])
})

it('names only tests that npm test runs', () => {
  const steps = readFileSync(new URL('scripts/test.mjs', root), 'utf8')
  const run = projects().filter(({ name }) => steps.includes(`'${name}'`))
  expect(run.map(({ name }) => name)).toEqual(expect.arrayContaining(['unit', 'seeds', 'crash']))
  const globs = run.flatMap(({ include }) => include.map(patternOf))
  const files = new Set(rows.flatMap(testsIn).map(([file]) => file))
  expect([...files].filter((file) => !globs.some((glob) => glob.test(file)))).toEqual([])
})

interface Project {
  readonly name: string
  readonly include: readonly string[]
}

function projects(): readonly Project[] {
  const given = config.test?.projects ?? []
  return given.flatMap((project) => {
    if (typeof project !== 'object' || !('test' in project)) return []
    const { name, include } = project.test ?? {}
    return typeof name === 'string' && include !== undefined ? [{ name, include }] : []
  })
}

/** A glob of `vitest.config.ts`: `**` is any number of folders, `*` is part of a name. */
function patternOf(glob: string): RegExp {
  const parts = glob.split('**/').map((part) => part.replaceAll('.', '\\.').replace('*', '[^/]*'))
  return new RegExp(`^${parts.join('(?:[^/]+/)*')}$`)
}

it('says what each thing to come comes with', () => {
  const legend = new Set(tableIn(page.split(/^## /m)[0] ?? '').map(([name]) => name))
  for (const { keptBy, number } of rows) {
    const name = /^later: (.+)$/.exec(keptBy)?.[1]
    if (name !== undefined) expect(legend, number).toContain(name)
  }
})
