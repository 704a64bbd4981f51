// Agents in a plain Node server: http://127.0.0.1:3000/lull
import { createServer } from 'node:http'
import { agent } from 'lull'
import { embed } from 'lull/node'

export const greeter = agent({
  name: 'greeter',
  description: 'Greets',
  run: (task) => `Hello, ${task.text}!`,
})

/** The other examples import the agent alone. */
if (process.argv[1] === import.meta.filename) {
  const port = Number(process.env.PORT ?? 3000)
  const lull = embed({ agents: [greeter], url: `http://127.0.0.1:${port}/lull`, store: 'memory' })
  const server = createServer((request, response) =>
    lull.handler(request, response, () => response.end('a page of the app')),
  )
  server.listen(port, '127.0.0.1', () => console.log('listening'))
}
