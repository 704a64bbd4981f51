/**
 * Makes a bare clone runnable: installs when node_modules does not match package-lock.json, builds when dist
 * does not match src. It needs only Node and npm, says on stderr what it does, and when there is nothing to do
 * it is silent, quick and makes no network request.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, isBuilt } from './build.mjs'
import { locked } from './lock.mjs'
import { root, run, say } from './run.mjs'

export async function bootstrap({ dist }) {
  requireNode(20, 19)
  if (isReady(dist)) return
  await locked(async () => {
    if (!isInstalled()) await install()
    if (dist && !isBuilt() && !(await build())) fail('the build failed, see above')
  })
}

/** What to say at the start about this Node; undefined when there is nothing to say. */
export function adviceFor(version) {
  if (!version.startsWith('20.')) return undefined
  return 'Node 20 gets no security fixes any more. Lull runs on it; use Node 24, where it is faster.'
}

/** Runs the CLI in this process, so that signals, stdin and the exit code are its own. */
export async function runCli(args) {
  const main = join(root, 'dist', 'cli', 'main.js')
  process.argv = [process.execPath, main, ...args]
  await import(pathToFileURL(main).href)
}

const isReady = (dist) => isInstalled() && (!dist || isBuilt())

/** npm keeps its own record of what it put into node_modules; it writes it last. */
function isInstalled() {
  const installed = packagesOf('node_modules/.package-lock.json')
  return Object.entries(packagesOf('package-lock.json'))
    .filter(([path]) => path.includes('node_modules/'))
    .every(([path, wanted]) => {
      const found = installed[path]
      if (found === undefined) return wanted.optional || wanted.devOptional || wanted.peer
      return found.version === wanted.version
    })
}

function packagesOf(lockfile) {
  const path = join(root, lockfile)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {}
}

async function install() {
  const why = existsSync(join(root, 'node_modules')) ? 'they changed' : 'first run, about a minute'
  say(`installing dependencies (${why})`)
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  const ticker = setInterval(() => say(`still installing, ${seconds()} s`), 10_000)
  // The compiler is a development dependency, and it is needed whatever NODE_ENV says.
  const code = await run(
    'npm',
    ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    { quiet: true },
  )
  clearInterval(ticker)
  if (code !== 0) fail(`npm ci ended with code ${code}, see above`)
  say(`installed in ${seconds()} s`)
}

function requireNode(major, minor) {
  const [hasMajor, hasMinor] = process.versions.node.split('.').map(Number)
  if (hasMajor > major || (hasMajor === major && hasMinor >= minor)) return
  fail(`Node ${major}.${minor} or newer is needed, this is ${process.versions.node}`)
}

function fail(why) {
  say(why)
  process.exit(1)
}
