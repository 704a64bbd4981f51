/**
 * Checks every package-lock.json; with `--fix`, completes them. Three things must hold for one to work everywhere:
 *
 * 1. It names no download address: a clone installs from whichever registry its owner uses.
 * 2. Every optional package that a dependency pins for one platform has an entry. npm leaves out those it could
 *    not fetch when the file was written, and then `npm ci` refuses the file on every platform.
 * 3. Every package has a checksum, so that `npm ci` installs what was locked. Only an optional tool of the development on
 *    another platform may have none, where the registry does not have the package. `--fix` asks the registry for it.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './run.mjs'

const systems = 'android darwin freebsd linux netbsd openbsd openharmony sunos win32'.split(' ')
const processors = 'arm arm64 ia32 loong64 ppc64 riscv64 s390x wasm32 x64'.split(' ')

const fix = process.argv.includes('--fix')

let entries = 0
let problems = 0
let unchecked = 0
for (const file of [
  'package-lock.json',
  'test/interop/mastra/package-lock.json',
  'site/package-lock.json',
])
  check(file)
console.log(`${entries} entries, ${problems} problems`)
if (unchecked > 0) console.log(`${unchecked} optional development packages have no checksum`)
process.exitCode = problems > 0 && !fix ? 1 : 0

function check(file) {
  const path = join(root, file)
  const lockfile = JSON.parse(readFileSync(path, 'utf8'))
  const found = problemsIn(lockfile.packages)
  for (const problem of found) console.log(`${fix ? 'fixed: ' : ''}${file}: ${problem}`)
  entries += Object.keys(lockfile.packages).length
  problems += found.length
  if (!fix || found.length === 0) return
  const sorted = Object.entries(lockfile.packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  lockfile.packages = Object.fromEntries(sorted)
  writeFileSync(path, `${JSON.stringify(lockfile, null, 2)}\n`)
}

/** Mends what it finds in place. */
function problemsIn(packages) {
  const problems = []
  for (const [at, entry] of Object.entries(packages)) {
    if (/^https?:/.test(entry.resolved ?? '')) {
      problems.push(`${at} has a download address`)
      delete entry.resolved
    }
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isPresent(packages, name, at)) continue
      problems.push(`${name}@${range} is missing, an optional dependency of ${at || 'its package'}`)
      packages[`node_modules/${name}`] = missingEntry(name, range, entry)
    }
  }
  for (const [at, entry] of Object.entries(packages)) {
    if (at === '' || entry.link || entry.integrity) continue
    const isNeeded = !(entry.dev && entry.optional)
    const integrity = fix ? checksumOf(nameOf(at), entry.version) : undefined
    if (isNeeded || integrity) problems.push(`${at} has no checksum`)
    else unchecked++
    const { version, ...rest } = entry
    if (integrity) packages[at] = { version, integrity, ...rest }
    else if (fix && isNeeded) throw new Error(`${at}: the registry has no checksum`)
  }
  return problems
}

function nameOf(at) {
  return at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

/** As the registry says. Undefined when it does not have the package. */
function checksumOf(name, version) {
  const given = ['view', `${name}@${version}`, 'dist.integrity']
  try {
    const answer = execFileSync('npm', given, { stdio: ['ignore', 'pipe', 'ignore'] })
    return /^sha512-[\w+/]+=*$/.exec(answer.toString().trim())?.[0]
  } catch {
    return undefined
  }
}

/** Whether Node would find the package from there: nested first, then in each folder above. */
function isPresent(packages, name, from) {
  if (packages[join(from, 'node_modules', name)] !== undefined) return true
  const above = from.slice(0, Math.max(0, from.lastIndexOf('node_modules') - 1))
  return from !== '' && isPresent(packages, name, above)
}

/** No checksum yet, since the package was never seen; its name tells the platform. */
function missingEntry(name, version, { dev }) {
  if (!/^\d+\.\d+\.\d+[^ ]*$/.test(version)) throw new Error(`${name} has no exact version`)
  const words = name.split(/[/-]/)
  const os = systems.filter((word) => words.includes(word))
  const cpu = processors.filter((word) => words.includes(word))
  const libc = [...(/-musl/.test(name) ? ['musl'] : []), ...(/-gnu/.test(name) ? ['glibc'] : [])]
  return {
    version,
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev }),
    ...(libc.length > 0 && os.includes('linux') && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  }
}
