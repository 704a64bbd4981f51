/** Tries to open the data directory as an unprivileged user, and prints the result. */
import { loadDriver } from '../files/driver.ts'
import { createSqliteStore } from '../sqlite-store.ts'

// Loaded first, because the user `nobody` cannot read the sources.
await loadDriver()
if (process.getuid() === 0) process.setuid(65_534)
const answer = await createSqliteStore({ path: process.argv[2] }).then(
  () => ({ opened: true }),
  (error) => ({ code: error.code, message: error.message }),
)
process.stdout.write(`${JSON.stringify(answer)}\n`)
