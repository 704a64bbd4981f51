// Agents in a Hono server: http://127.0.0.1:3000/lull
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { embed } from 'lull/node'
import { greeter } from './in-node.mjs'

const port = Number(process.env.PORT ?? 3000)
const lull = embed({
  agents: [greeter],
  url: `http://127.0.0.1:${port}/lull`,
  store: 'memory',
  // Every caller may use the agents: the server below listens on this machine only. Others give `caller`.
  insecure: true,
})

const app = new Hono()
app.get('/', (c) => c.text('a page of the app'))
app.all('/lull/*', (c) => lull.fetch(c.req.raw))

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => console.log('listening'))
