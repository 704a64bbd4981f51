/** `npm run fuzz -- --minutes 60 --seed N`: hostile requests to every door, seed after seed. A failure names its seed. */
import { parseArgs } from 'node:util'
import { run } from './run.mjs'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string' } },
})
const seed = values.seed ?? String(Date.now() % 1_000_000)
process.stderr.write(`lull: seeds from ${seed}, for ${values.minutes} minutes\n`)
process.env.LULL_FUZZ_MINUTES = values.minutes
process.env.LULL_FUZZ_SEED = seed
process.exitCode = await run('vitest', ['run', '--project', 'unit', 'src/server/fuzz.test.ts'])
