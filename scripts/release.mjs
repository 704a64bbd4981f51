/**
 * `npm run release -- [patch|minor|major] [--dry-run]`: version, changelog, commit and tag, in one step and in this clone only.
 * Without a word it releases the version of package.json, which has no tag yet. Pushing the tag publishes
 * (.github/workflows/release.yml).
 *
 *   node scripts/release.mjs --check v1.2.3    fails unless package.json and the changelog are of that tag
 *   node scripts/release.mjs --notes           prints the entry of the version of package.json
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { root } from './run.mjs'

const raise = {
  patch: ([major, minor, patch]) => [major, minor, patch + 1],
  minor: ([major, minor]) => [major, minor + 1, 0],
  major: ([major]) => [major + 1, 0, 0],
}

/**
 * What a release changes.
 * @param now `version` of package.json, all `tags`, the text of the `changelog`, the `date` as YYYY-MM-DD
 * @param word `patch`, `minor` or `major`; undefined for the version as it is
 */
export function planRelease({ version, tags, changelog, date }, word) {
  const next = word === undefined ? version : raised(version, word)
  const tag = `v${next}`
  if (tags.includes(tag)) throw new Error(`${tag} exists; say patch, minor or major`)
  if (entryOf(changelog, next) !== undefined) throw new Error(`the changelog has ${next} already`)
  const notes = entryOf(changelog, 'Unreleased')
  if (notes === undefined || notes === '') throw new Error('nothing is under Unreleased')
  const dated = changelog.replace(
    '## [Unreleased]\n',
    `## [Unreleased]\n\n## [${next}] - ${date}\n`,
  )
  return { version: next, tag, notes, changelog: dated, subject: `chore(release): ${next}` }
}

function raised(version, word) {
  const change = raise[word]
  if (change === undefined) throw new Error(`"${word}" is not patch, minor or major`)
  return change(version.split('.').map(Number)).join('.')
}

/** The text below the heading of a version, up to the next version. */
export function entryOf(changelog, version) {
  const from = changelog.split('\n').findIndex((line) => line.startsWith(`## [${version}]`))
  if (from === -1) return undefined
  const rest = changelog.split('\n').slice(from + 1)
  const to = rest.findIndex((line) => line.startsWith('## ['))
  return rest
    .slice(0, to === -1 ? undefined : to)
    .join('\n')
    .trim()
}

export function release(args, { folder = root, print = console.log } = {}) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean' },
      check: { type: 'string' },
      notes: { type: 'boolean' },
    },
  })
  const read = (name) => readFileSync(join(folder, name), 'utf8')
  const { version } = JSON.parse(read('package.json'))
  const changelog = read('CHANGELOG.md')
  if (values.notes) return print(entryOf(changelog, version) ?? '')
  if (values.check !== undefined) return check(values.check, version, changelog)

  const git = (...words) => runGit(folder, words)
  const date = new Date().toISOString().slice(0, 10)
  const plan = planRelease(
    { version, tags: git('tag').split('\n'), changelog, date },
    positionals[0],
  )
  const changed = git('status', '--porcelain')
  if (values['dry-run']) {
    print(`version  ${version} -> ${plan.version}`)
    print(`commit   ${plan.subject}`)
    print(`tag      ${plan.tag}`)
    print(`tree     ${changed === '' ? 'clean' : 'has changes: a release would be refused'}`)
    return print(`\n${plan.notes}`)
  }
  if (changed !== '') throw new Error('commit your changes first')
  for (const name of ['package.json', 'package-lock.json']) {
    writeFileSync(join(folder, name), withVersion(read(name), plan.version))
  }
  writeFileSync(join(folder, 'CHANGELOG.md'), plan.changelog)
  git('commit', '--quiet', '--all', '--message', plan.subject)
  git('tag', '--annotate', plan.tag, '--message', plan.tag)
  print(`Made ${plan.tag}. Publish it with: git push --follow-tags`)
}

function check(tag, version, changelog) {
  if (tag !== `v${version}`) throw new Error(`${tag} is not the tag of version ${version}`)
  if (!entryOf(changelog, version)) throw new Error(`the changelog has no entry for ${version}`)
}

/** A lockfile names the version of its package twice. */
function withVersion(text, version) {
  const about = JSON.parse(text)
  about.version = version
  if (about.packages !== undefined) about.packages[''].version = version
  return `${JSON.stringify(about, undefined, 2)}\n`
}

function runGit(folder, words) {
  const { status, stdout, stderr } = spawnSync('git', words, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${words[0]} failed: ${stderr.trim()}`)
  return stdout.trim()
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    release(process.argv.slice(2))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
