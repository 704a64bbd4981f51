// Agents in a Next app. `npm run try:next` builds and runs it.
import { agent } from 'lull'
import { embed } from 'lull/node'

const greeter = agent({
  name: 'greeter',
  description: 'Greets when it is told to',
  async run(task) {
    await task.park({ reason: 'waiting for the word', onEvent: 'greet' })
    return `Hello, ${task.text}!`
  },
})

// A hot reload of this module takes over the engine that is open. `next build` opens none.
export const lull = embed({
  agents: [greeter],
  url: 'http://localhost:3000/lull',
  data: process.env.LULL_DATA ?? './.lull',
  // Next listens on every address of the machine, so each request needs a token. Put your own authentication here.
  caller: (request) =>
    process.env.LULL_TOKEN !== undefined &&
    request.headers.get('authorization') === `Bearer ${process.env.LULL_TOKEN}`
      ? { tenant: 'default', principal: 'ann' }
      : undefined,
})
