/** `npm start`: the demo server, from a bare clone if need be. */
import { bootstrap, runCli } from './bootstrap.mjs'

await bootstrap({ dist: true })
await runCli(['demo', ...process.argv.slice(2)])
