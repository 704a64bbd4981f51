/**
 * `npm run simulate -- --seeds 1..2000`: random histories of a cluster with faults, one per seed. Prints the seeds that fail.
 * `--order memory|sqlite|postgres`: instead, random parallel programs on that store, evicted and rebuilt at random times.
 */
import { run } from './run.mjs'

/** @param {string} name */
const option = (name) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : (process.argv[at + 1] ?? '')
}

const stores = {
  memory: ['unit', 'src/engine/test-support/replay-order/replay-order.test.ts'],
  sqlite: ['unit', 'src/stores/sqlite/replay-order.test.ts'],
  postgres: ['postgres', 'src/stores/postgres/replay-order.test.ts'],
}
const store = option('--order')
const [project, file] =
  store === undefined
    ? ['unit', 'src/engine/test-support/simulation/simulation.test.ts']
    : (stores[store] ?? [])
const seeds = option('--seeds') ?? '1..2000'
if (file === undefined) {
  process.stderr.write('lull: --order takes memory, sqlite or postgres\n')
  process.exitCode = 2
} else if (!/^\d+\.\.\d+$/.test(seeds)) {
  process.stderr.write('lull: --seeds takes a range, for example 1..2000\n')
  process.exitCode = 2
} else {
  process.env.LULL_SIMULATE = seeds
  process.exitCode = await run('vitest', ['run', '--project', project, file])
}
