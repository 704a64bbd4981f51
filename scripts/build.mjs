/**
 * src -> dist: compile, copy what is not TypeScript, then replace `dist` as a whole. A build that fails leaves
 * the last good one in place. `dist/.inputs` holds the fingerprint of the sources it was made from.
 */
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { locked } from './lock.mjs'
import { root, run, say } from './run.mjs'

const [dist, next, old] = ['dist', 'dist.next', 'dist.old'].map((name) => join(root, name))
const stamp = '.inputs'

const isTest = (file) => /\.test(-d)?\.ts$/.test(file)
const isAsset = (file) => /^src\/stores\/.+\/migrations\/[^/]+\.sql$/.test(file)

export function isBuilt() {
  const made = join(dist, stamp)
  return existsSync(made) && readFileSync(made, 'utf8') === fingerprint()
}

/** Resolves to whether it worked. Call it under the lock. */
export async function build() {
  const started = Date.now()
  say('building dist')
  // Taken before compiling: a file saved meanwhile makes the result stale, not silently current.
  const inputs = fingerprint()
  rmSync(next, { recursive: true, force: true })
  try {
    const code = await run('tsc', ['-p', 'tsconfig.build.json', '--outDir', next], { quiet: true })
    if (code !== 0) return false
    if (!(await buildDashboard())) return false
    if (!(await buildConformance())) return false
    for (const file of filesIn('src').filter(isAsset)) {
      cpSync(join(root, file), join(next, file.slice('src/'.length)))
    }
    writeFileSync(join(next, stamp), inputs)
    replaceDist()
  } finally {
    rmSync(next, { recursive: true, force: true })
  }
  say(`built in ${((Date.now() - started) / 1000).toFixed(1)} s`)
  return true
}

/** The page of the dashboard, next to the code that serves it. */
async function buildDashboard() {
  return buildWithVite(['dashboard'], join(next, 'server', 'dashboard'))
}

/** The conformance kit, for `lull conformance`: one file that uses nothing else of `dist`. */
async function buildConformance() {
  return buildWithVite(['conformance', '--ssr', 'kit.ts'], join(next, 'conformance'))
}

async function buildWithVite(what, outDir) {
  // The directory is outside of what Vite builds. It is new, so emptying it changes nothing and avoids a warning.
  const args = ['build', ...what, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn']
  return (await run('vite', args, { quiet: true })) === 0
}

function replaceDist() {
  rmSync(old, { recursive: true, force: true })
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(next, dist)
  rmSync(old, { recursive: true, force: true })
}

function fingerprint() {
  const hash = createHash('sha256')
  const configs = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', 'scripts/build.mjs']
  const files = filesIn('src').filter((file) => !isTest(file))
  for (const file of [...configs, ...files, ...filesIn('dashboard'), ...filesIn('conformance')]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

/** The files of a folder, relative to the root, always in the same order and with forward slashes. */
function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .map((file) => file.split(sep).join('/'))
    .sort()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = (await locked(build)) ? 0 : 1
}
