import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { judge, mistakesIn, PAGES, sectionsOf, titlesIn } from './promises.mjs'

const table = (...rows) => `# Seeds

| document | proved | deviation | later |
|---|---|---|---|
| One | 0 | 0 | 0 |

| later | comes with |
|---|---|
| cluster | PostgreSQL |

## One

| # | promise | kept by |
|---|---|---|
${rows.join('\n')}
`
const row = (number, keptBy) => `| ${number} | it holds | ${keptBy} |`
const titles = new Set(['holds', '%s holds', 'says %s: %s', 'other'])
const passed = (title, status = 'passed') => ({ file: 'a.test.ts', title, status })
const verdict = (keptBy, ...results) =>
  judge(table(row('O1', keptBy)), results, (file) => (file === 'a.test.ts' ? titles : undefined))

describe('the table of promises', () => {
  it('S1 has rows that are proved, deviate for a reason or come later', () => {
    expect(mistakesIn(table(row('O1', '`a.test.ts > holds`')))).toEqual([])
    expect(mistakesIn(table(row('O1', 'deviation: we differ')))).toEqual([])
    expect(mistakesIn(table(row('O1', 'later: cluster')))).toEqual([])
    expect(mistakesIn(table(row('O1', 'surely')))).toEqual(['O1: kept by nothing'])
    expect(mistakesIn(table(row('O1', 'later: some day')))).toEqual([
      'O1: "some day" is not explained',
    ])
    expect(mistakesIn(table(row('O2', 'later: cluster')))).toEqual([
      'O2: not the next number of "One"',
    ])
  })

  it.each([
    ['`b.test.ts > holds`', [passed('holds')], 'no such file'],
    ['`a.test.ts > held`', [passed('held')], 'no such test'],
    ['`a.test.ts > holds`', [passed('other')], 'did not run'],
    ['`a.test.ts > holds`', [passed('holds', 'failed')], 'failed: holds'],
    ['`a.test.ts > holds`', [passed('holds', 'skipped')], 'skipped: holds'],
    ['`a.test.ts > holds`', [passed('holds'), passed('holds', 'failed')], 'failed: holds'],
    ['`a.test.ts > %s holds`', [passed('a holds'), passed('b holds', 'failed')], 'failed: b holds'],
    ['`a.test.ts > %s holds`', [passed('holds')], 'did not run'],
    ['deviation: we differ; `a.test.ts > holds`', [], 'did not run'],
  ])('S2 is not kept by %s after %j', (keptBy, results, why) => {
    const { problems } = verdict(keptBy, ...results)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(why)
  })

  it('S2 takes a title of it.each for every test made of it, and for no other', () => {
    expect(
      verdict('`a.test.ts > says %s: %s`', passed('says a: b'), passed('x holds', 'failed')),
    ).toMatchObject({
      problems: [],
    })
  })

  it('S3 counts the rows whose tests passed', () => {
    const page = table(
      row('O1', '`a.test.ts > holds`'),
      row('O2', '`a.test.ts > other`'),
      row('O3', 'later: cluster'),
    )
    const judged = judge(page, [passed('holds'), passed('other', 'failed')], () => titles)
    expect(judged.page).toBe(page.replace('| One | 0 | 0 | 0 |', '| One | 1 | 0 | 1 |'))
  })

  it('finds the titles of tests in a source, and not those of groups', () => {
    const code = `
      describe('group', () => {
        it('a', () => {})
        it.each([1])('b %s', async (n) => {})
        test("it's", async () => {})
      })`
    expect([...titlesIn(code)]).toEqual(['a', 'b %s', "it's"])
  })
})

describe('the pages', () => {
  const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

  it('of the seeds have a section for each of the five documents', () => {
    expect(sectionsOf(read('docs/evidence/seeds.md')).map(({ title }) => title)).toEqual([
      'Life of a Task (A2A)',
      'PAUSED state RFC (A2A)',
      'Reminders RFC (A2A)',
      'session/suspend RFC (ACP)',
      'Pause & Resume (Bindu)',
    ])
  })

  it.each(PAGES)('%s is without a mistake, and S2 cites only tests that exist', (path) => {
    const page = read(path)
    expect(mistakesIn(page)).toEqual([])
    const cited = sectionsOf(page).flatMap(({ rows }) => rows.flatMap((row) => row.cited))
    expect(cited.length).toBeGreaterThan(0)
    const missing = cited.filter(({ file, title }) => !titlesIn(read(file)).has(title))
    expect(missing).toEqual([])
  })
})
