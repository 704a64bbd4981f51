// Asks before it does what cannot be undone. The consent is bound to the operation: it counts for this one and no other.
//   npm run -s lull -- send http://127.0.0.1:8787 "old-backups"
//   npm run -s lull -- answer @last --grant
import { agent, serve } from 'lull'

const cleaner = agent({
  name: 'cleaner',
  description: 'Deletes a folder, if it may',
  async run(task) {
    const operation = { delete: task.text }
    await task.requireConsent({ prompt: `Delete ${task.text} for good?`, operation })
    await task.step('delete', ({ idempotencyKey }) => ({ deleted: task.text, idempotencyKey }))
    return `${task.text} is deleted`
  },
})

await serve({ agents: [cleaner] })
