// The smallest agent. Start it, then in another terminal:
//   npm run -s lull -- send http://127.0.0.1:8787 "Ann"
import { agent, serve } from 'lull'

const greeter = agent({
  name: 'greeter',
  description: 'Greets whoever writes',
  run: (task) => `Hello, ${task.text}!`,
})

await serve({ agents: [greeter] })
