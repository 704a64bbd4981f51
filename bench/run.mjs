/**
 * `npm run bench`: measures each row in a process of its own, prints the table and writes bench/results.json.
 *
 *   npm run bench -- --row commits,wake    some rows, by name
 *   npm run bench -- --quick               smaller sizes and fewer turns, to see that everything runs; writes no file
 *   npm run bench -- --row idle --big      sizes that take many minutes, where a row has them
 *
 * Needs nothing but Node and npm: it builds Lull when `dist` is stale and installs the peers a row compares with.
 */
import { fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bootstrap } from '../scripts/bootstrap.mjs'
import { root } from '../scripts/run.mjs'
import { machine, versions } from './harness/machine.mjs'
import { watchNeighbours } from './harness/neighbours.mjs'
import { installPeers } from './harness/peers.mjs'
import { format, isMissed, summary } from './harness/table.mjs'
import { rows } from './rows.mjs'

const { values: options } = parseArgs({
  options: {
    row: { type: 'string' },
    quick: { type: 'boolean', default: false },
    big: { type: 'boolean', default: false },
  },
})
const chosen = choose(options.row)
if (process.env.LULL_BENCH_DIST === undefined) await bootstrap({ dist: true })
await installPeers(chosen.flatMap(({ peers }) => peers))

const measured = []
for (const { name, peers } of chosen) {
  process.stderr.write(`bench: ${name}\n`)
  const neighbours = watchNeighbours()
  const outcome = await measure(name)
  measured.push({ row: name, ...outcome, versions: versions(peers), otherCpu: neighbours() })
}
report()

function choose(names) {
  if (names === undefined) return rows
  const wanted = names.split(',')
  const unknown = wanted.filter((name) => !rows.some((row) => row.name === name))
  if (unknown.length === 0) return rows.filter(({ name }) => wanted.includes(name))
  console.error(`unknown: ${unknown.join(', ')}. Known: ${rows.map((row) => row.name).join(', ')}`)
  process.exit(2)
}

/** A row that fails does not stop the others; it is in the table as failed. */
function measure(name) {
  const file = fileURLToPath(new URL('./harness/row-process.mjs', import.meta.url))
  const child = fork(file, [name, JSON.stringify({ quick: options.quick, big: options.big })], {
    execArgv: ['--expose-gc'],
  })
  return new Promise((resolve) => {
    let outcome
    child.once('message', (message) => {
      outcome = message
    })
    child.once('error', (error) => resolve({ error: error.message }))
    // Only when it is gone is its processor time known, and not taken for a neighbour's.
    child.once('exit', (code) => resolve(outcome ?? { error: `ended with code ${code}` }))
  })
}

function report() {
  const facts = { ...machine(), quick: options.quick, measuredAt: new Date().toISOString() }
  console.log(format(measured, facts))
  // A part of the table, or a quick one, does not replace the whole one.
  if (options.row === undefined && !options.quick) {
    const path = join(root, 'bench', 'results.json')
    writeFileSync(path, `${JSON.stringify({ ...facts, rows: measured }, null, 2)}\n`)
  }
  console.log(summary(measured))
  process.exitCode = measured.some(isMissed) ? 1 : 0
}
