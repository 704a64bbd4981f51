/**
 * Checks what a user installs with Lull.
 *
 * 1. No production dependency runs a script when it is installed, except those that are named here.
 * 2. `npm audit` knows no hole of level high or critical in them. Without a network this is not known, and said so.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './run.mjs'

/** The SQLite driver of Node versions without one of their own. Its script fetches or builds the native part. */
export const allowed = ['@photostructure/sqlite']

/** The production dependencies that run a script at installation. */
export function installScriptsIn(packages) {
  return Object.entries(packages)
    .filter(
      ([at, entry]) => at !== '' && entry.hasInstallScript && !entry.dev && !entry.devOptional,
    )
    .map(([at]) => at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length))
}

/** @returns sentences; `unknown` when npm could not ask */
export function holesIn(report) {
  const levels = report.metadata?.vulnerabilities
  if (levels === undefined)
    return { unknown: report.error?.summary || report.message || 'no answer' }
  const bad = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) =>
    ['high', 'critical'].includes(severity),
  )
  return { holes: bad.map(({ name, severity, range }) => `${name} ${range}: ${severity}`) }
}

function audit() {
  const flags = ['--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=5000']
  const { stdout } = spawnSync('npm', ['audit', ...flags], {
    cwd: root,
    encoding: 'utf8',
    timeout: 20_000,
  })
  try {
    return holesIn(JSON.parse(stdout))
  } catch {
    return { unknown: 'npm gave no report' }
  }
}

function main() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const scripts = installScriptsIn(packages)
  const surprising = scripts.filter((name) => !allowed.includes(name))
  for (const name of surprising) console.log(`${name} runs a script when it is installed`)
  const { unknown, holes = [] } = audit()
  for (const hole of holes) console.log(hole)
  const audited = unknown === undefined ? `${holes.length} holes` : `npm audit unknown (${unknown})`
  console.log(`${scripts.length} with install scripts, ${surprising.length} not named; ${audited}`)
  process.exitCode = surprising.length + holes.length > 0 ? 1 : 0
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
