/** Agents of a process to which a test does harm. SIGUSR2 ends the thread that writes. */
let writer
process.on('worker', (thread) => {
  writer = thread
})
process.on('SIGUSR2', () => {
  void writer?.terminate()
})
// Under a limit of the file size, a write then fails instead of ending the process.
process.on('SIGXFSZ', () => undefined)

export default [
  { name: 'echo', description: 'Completes at once', run: async (task) => task.text },
  {
    name: 'busy',
    description: 'Takes steps for ever',
    async run(task) {
      for (;;) await task.step('tick', () => new Promise((resolve) => setTimeout(resolve, 20)))
    },
  },
]
