// One agent hands parts of its work to another and waits for both; while it waits it needs no memory and no slot.
//   npm run -s lull -- send http://127.0.0.1:8787 "durable execution"
import { agent, serve } from 'lull'

const editor = agent({
  name: 'editor',
  description: 'Has two reviews written and joins them',
  async run(task) {
    const views = ['for', 'against']
    const children = await Promise.all(
      views.map((view) => task.delegate('reviewer', `${view} ${task.text}`)),
    )
    const results = await Promise.all(children.map((child) => child.result()))
    return results.map(({ message }) => message?.parts[0]?.text).join(' ')
  },
})

const reviewer = agent({
  name: 'reviewer',
  description: 'Writes one review',
  run: (task) => task.step('review', () => `One can be ${task.text}.`),
})

await serve({ agents: [editor, reviewer] })
