/** Opens the data directory, prints that it did, and closes it when its input ends. Prints the error when it cannot open. */
import { createSqliteStore } from '../sqlite-store.ts'

try {
  const store = await createSqliteStore({ path: process.argv[2] })
  process.stdout.write('open\n')
  process.stdin.on('end', () => store.close()).resume()
} catch (error) {
  process.stdout.write(`${error.code}\n`)
}
