/** Writes to three tasks for ever; prints each version once it is durable. Says why when writing fails, and ends. */
import { writeSync } from 'node:fs'
import { creation, step } from '../../../testing/sample-task.ts'
import { createSqliteStore } from '../sqlite-store.ts'

// Under a limit of the file size, a write then fails instead of ending the process.
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
  const readable = await store.records('task-1', 0, 1)
  writeSync(1, `${JSON.stringify({ code: error.code, message: error.message, readable })}\n`)
}
process.exit()
