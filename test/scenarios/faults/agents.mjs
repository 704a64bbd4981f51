/**
 * Agents of a process to which a test does harm. SIGUSR2 ends the thread that writes, while it has nothing to write: the
 * SQLite driver ends the whole process when its thread is terminated in the middle of a call.
 */
import { setTimeout as sleep } from 'node:timers/promises'

let writer
let isEnding = false
process.on('worker', (thread) => {
  writer = thread
})
process.on('SIGUSR2', () => {
  isEnding = true
})
// Under a limit of the file size, a write then fails instead of ending the process.
process.on('SIGXFSZ', () => undefined)

export default [
  { name: 'echo', description: 'Completes at once', run: async (task) => task.text },
  {
    name: 'busy',
    description: 'Takes steps for ever',
    async run(task) {
      for (;;) await task.step('tick', tick)
    },
  },
]

/** What came before it is written. */
async function tick() {
  await sleep(10)
  if (isEnding) await writer?.terminate()
  await sleep(10)
}
