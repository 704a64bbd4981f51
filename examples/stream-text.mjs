// Shows text while it is made, as a model does, and records it whole with the step.
//   npm run -s lull -- send http://127.0.0.1:8787 "the sea" --stream
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, serve } from 'lull'

const poet = agent({
  name: 'poet',
  description: 'Writes a few lines, word by word',
  async run(task) {
    await task.step('write', async ({ stream, signal }) => {
      const poem = stream('poem')
      for (const word of `Of ${task.text} I sing, slowly, so that you see it come.`.split(' ')) {
        poem.write(`${word} `)
        await sleep(50, undefined, { signal })
      }
    })
  },
})

await serve({ agents: [poet] })
