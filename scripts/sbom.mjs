/**
 * Prints a bill of materials (CycloneDX) of what a user installs with Lull. `npm sbom --omit dev` leaves out production
 * dependencies that a development dependency needs too, so the whole list is asked for and filtered by the lockfile.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './run.mjs'

/** `name@version` of every production dependency. */
export function productionIn(packages) {
  return new Set(
    Object.entries(packages)
      .filter(([at, entry]) => at !== '' && !entry.dev && !entry.devOptional)
      .map(([at, { version }]) => `${at.split('node_modules/').at(-1)}@${version}`),
  )
}

/** The bill with these components alone, and what they depend on. */
export function reduced(bill, wanted) {
  const components = bill.components.filter(({ 'bom-ref': ref }) => wanted.has(ref))
  const kept = new Set([bill.metadata.component['bom-ref'], ...components.map((c) => c['bom-ref'])])
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn = [] }) => ({
      ref,
      dependsOn: dependsOn.filter((one) => kept.has(one)),
    }))
  return { ...bill, components, dependencies }
}

function main() {
  const flags = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only']
  const { stdout } = spawnSync('npm', ['sbom', ...flags], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const wanted = productionIn(packages)
  const bill = reduced(JSON.parse(stdout), wanted)
  console.log(JSON.stringify(bill, null, 2))
  if (bill.components.length === wanted.size) return
  console.error(`${bill.components.length} of ${wanted.size} dependencies are in the bill`)
  process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
