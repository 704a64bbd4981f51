/** Writes to three tasks until writing fails. Prints each version when it is durable, and at the end the error. */
import { writeSync } from 'node:fs'
import { creation, step } from '../../../testing/sample-task.ts'
import { createSqliteStore } from '../sqlite-store.ts'

// With this handler a write beyond the file size limit fails instead of ending the process.
process.on('SIGXFSZ', () => undefined)

const ids = ['task-1', 'task-2', 'task-3']
const store = await createSqliteStore({ path: process.argv[2] })
try {
  await store.commit(ids.map((id) => creation(id)))
  for (let version = 2; ; version++) {
    writeSync(1, `${version}\n`)
    await store.commit(ids.map((id) => step(id, version)))
  }
} catch (error) {
  const readable = await store.records('acme', 'task-1', 0, 1)
  writeSync(1, `${JSON.stringify({ code: error.code, message: error.message, readable })}\n`)
}
process.exit()
