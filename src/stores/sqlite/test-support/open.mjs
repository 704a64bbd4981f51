/** Tries to open the data directory as a user whom permissions bind, and prints what came of it. */
import { loadDriver } from '../driver.ts'
import { createSqliteStore } from '../sqlite-store.ts'

// Loaded first: nobody may not read the sources.
await loadDriver()
if (process.getuid() === 0) process.setuid(65_534)
const answer = await createSqliteStore({ path: process.argv[2] }).then(
  () => ({ opened: true }),
  (error) => ({ code: error.code, message: error.message }),
)
process.stdout.write(`${JSON.stringify(answer)}\n`)
