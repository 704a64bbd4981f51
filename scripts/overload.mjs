/** `npm run overload -- --seconds 60`: the overload of the tests, for longer. It prints its figures. */
import { parseArgs } from 'node:util'
import { run } from './run.mjs'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } })
if (/^\d+$/.test(values.seconds)) {
  process.env.LULL_OVERLOAD_MS = String(Number(values.seconds) * 1_000)
  const built = await run('node', ['scripts/build.mjs'])
  process.exitCode =
    built === 0 ? await run('vitest', ['run', '--project', 'scenarios', 'overload.test.ts']) : built
} else {
  process.stderr.write('lull: --seconds takes a number\n')
  process.exitCode = 2
}
