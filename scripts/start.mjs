/** `npm start`: the demo server, from a bare clone if need be. */
import { adviceFor, bootstrap, runCli } from './bootstrap.mjs'
import { say } from './run.mjs'

await bootstrap({ dist: true })
const advice = adviceFor(process.versions.node)
if (advice !== undefined) say(advice)
await runCli(['demo', ...process.argv.slice(2)])
