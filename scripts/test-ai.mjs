/**
 * `npm run test:ai`: the tests of `src/ai` with other versions of the AI SDK than the one in package-lock.json, and the types
 * with major 7. It copies the sources to a temporary directory and installs the version there. Major 7 needs Node 22:
 * on an older Node, an npm package with the program is installed too. Not a part of `npm test`: it downloads packages.
 *
 *   npm run test:ai                   the newest major 7 and the oldest supported 6
 *   npm run test:ai -- 7.0.169 6.0.0  these versions
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root, say } from './run.mjs'

const VERSIONS = ['7', '6.0.0']
const NODE = '22'
const [own] = process.versions.node.split('.').map(Number)
const copied = ['src', 'package.json', 'tsconfig.json', 'vitest.config.ts']

const given = process.argv.slice(2)
const failed = (given.length > 0 ? given : VERSIONS).filter((version) => !passes(version))
if (failed.length > 0) say(`failed with ai ${failed.join(' and ')}`)
process.exitCode = failed.length > 0 ? 1 : 0

function passes(version) {
  const place = mkdtempSync(join(tmpdir(), 'lull-ai-'))
  try {
    for (const name of copied) cpSync(join(root, name), join(place, name), { recursive: true })
    rmSync(join(place, 'package.json'))
    const node = install(place, version)
    shareOtherPackages(place)
    cpSync(join(root, 'package.json'), join(place, 'package.json'))
    say(`ai ${version} with ${spawnSync(node, ['--version']).stdout.toString().trim()}`)
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
    const tests = runIn(place, node, [vitest, 'run', '--project', 'unit', 'src/ai'])
    const compiler = join(root, 'node_modules', '.bin', 'tsc')
    return tests && (isMajor6(version) || runIn(place, compiler, ['--noEmit']))
  } finally {
    rmSync(place, { recursive: true })
  }
}

/** Its types are checked with the version of package-lock.json. */
function isMajor6(version) {
  return version.startsWith('6')
}

/** Returns the program that runs the tests. */
function install(place, version) {
  const isNewEnough = own >= Number(NODE) || isMajor6(version)
  const program = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const packages = [`ai@${version}`, ...(isNewEnough ? [] : [`${program}@${NODE}`])]
  const how = ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', place]
  if (!runIn(place, 'npm', [...how, ...packages])) throw new Error(`cannot install ${packages}`)
  return isNewEnough ? process.execPath : join(place, 'node_modules', program, 'bin', 'node')
}

/** Everything but the SDK comes from the clone, so that there is one zod and one OpenTelemetry. */
function shareOtherPackages(place) {
  const [from, to] = [root, place].map((directory) => join(directory, 'node_modules'))
  const names = readdirSync(from).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(from, name)).map((part) => `${name}/${part}`) : [name],
  )
  for (const name of names.filter((one) => !/^(?:ai$|@ai-sdk\/|\.)/.test(one))) {
    mkdirSync(dirname(join(to, name)), { recursive: true })
    rmSync(join(to, name), { recursive: true, force: true })
    symlinkSync(join(from, name), join(to, name))
  }
}

function runIn(cwd, command, args) {
  return spawnSync(command, args, { cwd, stdio: 'inherit' }).status === 0
}
