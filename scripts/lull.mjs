/** `npm run -s lull -- <args>`: the CLI from a clone. */
import { bootstrap, runCli } from './bootstrap.mjs'

await bootstrap({ dist: true })
await runCli(process.argv.slice(2))
