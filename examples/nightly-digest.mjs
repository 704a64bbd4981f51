// Sums up what arrived, every night at three in Berlin. Try it at once:
//   npm run -s lull -- schedules run digest:nightly
import { generateText } from 'ai'
import { agent, serve } from 'lull'
import { durableModel } from 'lull/ai'
import { model } from './ai/model.mjs'

/** What arrived on that day. A real one would ask a ticket system. */
const arrivedOn = (day) => [`mail of ${day}`, `ticket of ${day}`]

export const digest = agent({
  name: 'digest',
  description: 'Sums up what arrived on a day',
  schedule: [
    {
      name: 'nightly',
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      message: 'Sum up yesterday',
      // After a night without a process, the latest digest is made up for.
      missed: 'run-once',
    },
  ],
  async run(task) {
    // The time of the schedule, not the time at which the code happens to run.
    const time = task.metadata.schedule?.time ?? new Date(task.now()).toISOString()
    const items = await task.step('read', () => arrivedOn(time.slice(0, 10)))
    const list = items.map((item) => `- ${item}`).join('\n')
    // The answer of the model is recorded, so a crash afterwards does not ask it again.
    const { text } = await generateText({
      model: durableModel(task, model('A quiet day.')),
      prompt: `Sum up in one sentence what arrived:\n${list}`,
    })
    await task.artifact({ name: 'digest.md', text: `${text}\n\n${list}` })
    return `${items.length} items. ${text}`
  },
})

// `node --test examples/nightly-digest.test.mjs` imports this file and serves nothing.
if (process.argv[1] === import.meta.filename) await serve({ agents: [digest] })
