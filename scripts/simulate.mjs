/** `npm run simulate -- --seeds 1..2000`: random histories of a cluster with faults, one per seed. Prints the seeds that fail. */
import { run } from './run.mjs'

const at = process.argv.indexOf('--seeds')
const seeds = at < 0 ? '1..2000' : process.argv[at + 1]
if (!/^\d+\.\.\d+$/.test(seeds ?? '')) {
  process.stderr.write('lull: --seeds takes a range, for example 1..2000\n')
  process.exitCode = 2
} else {
  process.env.LULL_SIMULATE = seeds
  const args = ['run', '--project', 'unit', 'src/engine/simulation.test.ts']
  process.exitCode = await run('vitest', args)
}
