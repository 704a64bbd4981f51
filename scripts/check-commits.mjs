/**
 * `npm run commits`: every commit since the convention was adopted has a Conventional Commits subject of at most 72
 * characters. In a clone without that commit only the newest one is checked.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { root } from './run.mjs'

/** The last commit before the convention. */
const before = '826f256055e6606842673aaafbfc2332ec9fd7c4'
const types = 'feat|fix|docs|test|refactor|perf|build|ci|chore|style|revert'
const subject = new RegExp(`^(?:${types})(?:\\([a-z0-9./_-]+\\))?!?: \\S.*$`)
const LONGEST = 72

/** Why a subject is refused; undefined when it is fine. */
export function problemWith(text) {
  if (text.length > LONGEST) return `${text.length} characters, at most ${LONGEST}`
  return subject.test(text) ? undefined : `not "type(scope): what it does" (types: ${types})`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const inside = git('rev-parse', '--is-inside-work-tree')
  if (inside === undefined) {
    console.log('not a git checkout: no commits to check')
  } else {
    const known = git('cat-file', '-e', `${before}^{commit}`) !== undefined
    const range = known ? [`${before}..HEAD`] : ['-1', 'HEAD']
    const log = git('log', '--no-merges', '--format=%h %s', ...range) ?? ''
    const commits = log.split('\n').filter(Boolean)
    const problems = commits.flatMap((line) => {
      const [hash, ...words] = line.split(' ')
      const why = problemWith(words.join(' '))
      return why === undefined ? [] : [`${hash} ${words.join(' ')}: ${why}`]
    })
    for (const problem of problems) console.error(problem)
    console.log(`${commits.length} commits, ${problems.length} errors`)
    process.exitCode = problems.length > 0 ? 1 : 0
  }
}

/** What git prints; undefined when it fails. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}
