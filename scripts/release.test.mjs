import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { entryOf, planRelease, release } from './release.mjs'

const changelog = `# Changelog

## [Unreleased]

- See pages.

## [0.1.0] - 2026-01-01

- Write agents.
`
const now = { version: '0.1.0', tags: ['v0.1.0'], changelog, date: '2026-02-03' }

it.each([
  ['patch', '0.1.1'],
  ['minor', '0.2.0'],
  ['major', '1.0.0'],
])('raises the version by one %s, and dates what was not released', (word, version) => {
  const plan = planRelease(now, word)
  expect(plan).toMatchObject({ version, tag: `v${version}`, notes: '- See pages.' })
  expect(entryOf(plan.changelog, version)).toBe('- See pages.')
  expect(entryOf(plan.changelog, 'Unreleased')).toBe('')
  expect(entryOf(plan.changelog, '0.1.0')).toBe('- Write agents.')
  expect(plan.changelog).toContain(`## [${version}] - 2026-02-03\n`)
})

it('releases a version without a tag as it is, and no version twice', () => {
  const first = { ...now, tags: [], changelog: changelog.slice(0, changelog.indexOf('## [0.1.0]')) }
  expect(planRelease(first, undefined)).toMatchObject({ version: '0.1.0', tag: 'v0.1.0' })
  expect(() => planRelease(now, undefined)).toThrow('v0.1.0 exists')
  expect(() => planRelease({ ...now, tags: [] }, undefined)).toThrow('has 0.1.0 already')
  expect(() => planRelease(now, 'huge')).toThrow('patch, minor or major')
  const empty = changelog.replace('- See pages.\n', '')
  expect(() => planRelease({ ...now, changelog: empty }, 'patch')).toThrow('nothing')
})

let folder
const git = (...words) => execFileSync('git', words, { cwd: folder, encoding: 'utf8' }).trim()
const read = (name) => readFileSync(join(folder, name), 'utf8')
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lull-release-'))
  const about = { name: 'lull', version: '0.1.0' }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(about))
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...about, packages: { '': about } }),
  )
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
  git('init', '--quiet')
  git('config', 'user.name', 'Ann')
  git('config', 'user.email', 'ann@example.com')
  git('add', '.')
  git('commit', '--quiet', '--message', 'feat: begin')
})
afterEach(() => rmSync(folder, { recursive: true }))

it('a dry run says what would happen, and changes nothing', () => {
  const said = []
  release(['minor', '--dry-run'], { folder, print: (line) => said.push(line) })
  expect(said.join('\n')).toMatch(/0\.1\.0 -> 0\.2\.0.*v0\.2\.0.*clean.*See pages/s)
  expect(git('status', '--porcelain')).toBe('')
  expect(git('tag')).toBe('')
})

it('writes the version into both files, commits and tags; the tag is then checked against them', () => {
  release(['minor'], { folder, print: () => {} })
  expect(git('log', '-1', '--format=%s')).toBe('chore(release): 0.2.0')
  expect(git('cat-file', '-t', 'v0.2.0')).toBe('tag')
  expect(JSON.parse(read('package.json')).version).toBe('0.2.0')
  expect(JSON.parse(read('package-lock.json')).packages[''].version).toBe('0.2.0')
  expect(git('status', '--porcelain')).toBe('')
  release(['--check', 'v0.2.0'], { folder })
  expect(() => release(['--check', 'v0.3.0'], { folder })).toThrow('not the tag')
  const said = []
  release(['--notes'], { folder, print: (line) => said.push(line) })
  expect(said).toEqual(['- See pages.'])
})

it('a tree with changes is not released', () => {
  writeFileSync(join(folder, 'new.txt'), '')
  expect(() => release(['minor'], { folder })).toThrow('commit your changes')
})
