/** `npm start`: the demo server, from a bare clone if need be. */
import { bootstrap, runCli } from './bootstrap.mjs'
import { say } from './run.mjs'

await bootstrap({ dist: true })
if (process.versions.node.startsWith('20.')) {
  say('Node 20 gets no security fixes any more. Lull runs on it; use Node 24, where it is faster.')
}
await runCli(['demo', ...process.argv.slice(2)])
