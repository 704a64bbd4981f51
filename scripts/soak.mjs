/**
 * `npm run soak -- --minutes 60 --tasks 2000 --seed 7`: four processes on one PostgreSQL under faults. It ends when the time
 * has passed and so many tasks have begun. Without a seed it takes a random one. The seed is printed; it decides the tasks,
 * and the order of the faults. `--older <directory>`: every second process runs the program that was built there, for
 * example an earlier commit. `--steps`: the wall clock of each process is set every few seconds, by a day.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from './run.mjs'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    tasks: { type: 'string', default: '0' },
    seed: { type: 'string' },
    older: { type: 'string' },
    steps: { type: 'boolean', default: false },
  },
})
const { minutes, tasks, seed = String(Math.floor(Math.random() * 1_000_000)) } = values
if (!/^\d+(\.\d+)?$/.test(minutes) || ![tasks, seed].every((text) => /^\d+$/.test(text))) {
  process.stderr.write('lull: --minutes, --tasks and --seed take numbers\n')
  process.exitCode = 2
} else {
  process.stdout.write(`lull: ${minutes} minutes, at least ${tasks} tasks, with --seed ${seed}\n`)
  process.env.LULL_SOAK = `${minutes},${seed},${tasks}`
  if (values.steps) process.env.LULL_SOAK_STEPS = 'yes'
  if (values.older !== undefined) {
    process.env.LULL_SOAK_OLDER = resolve(values.older, 'dist/cli/main.js')
  }
  const built = await run('node', ['scripts/build.mjs'])
  process.exitCode =
    built === 0 ? await run('vitest', ['run', '--project', 'cluster', 'cluster.test.ts']) : built
}
