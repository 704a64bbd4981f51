// Agents in a Fastify server: http://127.0.0.1:3000/lull
import { fastify } from 'fastify'
import { embed } from 'lull/node'
import { greeter } from './in-node.mjs'

const port = Number(process.env.PORT ?? 3000)
const lull = embed({ agents: [greeter], url: `http://127.0.0.1:${port}/lull`, store: 'memory' })

const app = fastify()
app.register(lull.fastify)
app.get('/', () => 'a page of the app')

// The close of the server also ends the streams of clients and closes the engine.
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => app.close())

await app.listen({ port, host: '127.0.0.1' })
console.log('listening')
