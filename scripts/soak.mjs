/**
 * `npm run soak -- --minutes 60 --seed 7`: four processes on one PostgreSQL under faults. Without a seed it takes a random
 * one. The seed is printed; it decides the tasks, and the order of the faults.
 */
import { parseArgs } from 'node:util'
import { run } from './run.mjs'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string' } },
})
const { minutes, seed = String(Math.floor(Math.random() * 1_000_000)) } = values
if (!/^\d+(\.\d+)?$/.test(minutes) || !/^\d+$/.test(seed)) {
  process.stderr.write('lull: --minutes and --seed take numbers\n')
  process.exitCode = 2
} else {
  process.stdout.write(`lull: ${minutes} minutes with --seed ${seed}\n`)
  process.env.LULL_SOAK = `${minutes},${seed}`
  const built = await run('node', ['scripts/build.mjs'])
  process.exitCode =
    built === 0 ? await run('vitest', ['run', '--project', 'cluster', 'cluster.test.ts']) : built
}
