// Agents in an Express server: http://127.0.0.1:3000/lull
import express from 'express'
import { embed } from 'lull/node'
import { greeter } from './in-node.mjs'

const port = Number(process.env.PORT ?? 3000)
const lull = embed({ agents: [greeter], url: `http://127.0.0.1:${port}/lull`, store: 'memory' })

const app = express()
app.use(express.json())
app.use(lull.handler)
app.get('/', (_, response) => response.send('a page of the app'))

app.listen(port, '127.0.0.1', () => console.log('listening'))
