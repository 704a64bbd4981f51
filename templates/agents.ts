import { agent } from 'lull'

export const reviewer = agent({
  name: 'reviewer',
  description: 'Writes a draft, waits for an approval, and publishes',
  async run(task) {
    // A recorded step never runs again, also when the process is killed afterwards.
    const draft = await task.step('write', () => `Draft about ${task.text}`)
    await task.artifact({ name: 'draft.txt', text: draft })

    const { value } = await task.ask({
      text: 'Publish the draft?',
      choices: ['publish', 'discard'],
      expiresInMs: '7 days',
    })
    if (value === 'discard') return 'Discarded'

    await task.step('publish', ({ idempotencyKey }) => `published as ${idempotencyKey}`)
    return 'Published'
  },
})

export default [reviewer]
