/** What was measured with: kept beside every figure, because figures of two machines do not compare. */
import { readFileSync } from 'node:fs'
import { arch, cpus, totalmem, type } from 'node:os'

export function machine() {
  const [first] = cpus()
  return {
    node: process.version,
    system: `${type()} ${arch()}`,
    processor: `${cpus().length} x ${first?.model.trim() ?? 'unknown'}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  }
}

/** Lull, the SQLite driver it takes here, and the peers of a row. */
export function versions(peers) {
  const builtin = process.getBuiltinModule?.('node:sqlite') !== undefined
  const driver = '@photostructure/sqlite'
  return {
    lull: versionOf('..', 'lull'),
    sqlite: builtin ? `node:sqlite of ${process.version}` : `${driver} ${versionOf('..', driver)}`,
    ...Object.fromEntries(peers.map((name) => [name, versionOf('.', name)])),
  }
}

function versionOf(from, name) {
  const base = new URL(`../${from}/package.json`, import.meta.url)
  const file = name === 'lull' ? base : new URL(`./node_modules/${name}/package.json`, base)
  return JSON.parse(readFileSync(file, 'utf8')).version
}
