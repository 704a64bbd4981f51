// Agents in a Next app: this file is `app/lull/[[...path]]/route.js`. In `next.config.js`, name the package as external,
// because it reads files of its own: serverExternalPackages: ['lull']
import { embed } from 'lull/node'
import { greeter } from './in-node.mjs'

export const dynamic = 'force-dynamic'

// A hot reload of this module takes over the engine that is open.
const lull = embed({
  agents: [greeter],
  url: 'http://localhost:3000/lull',
  store: 'memory',
  // Next listens on every address of the machine, so each request needs a token. Put your own authentication here.
  caller: (request) =>
    process.env.LULL_TOKEN !== undefined &&
    request.headers.get('authorization') === `Bearer ${process.env.LULL_TOKEN}`
      ? { tenant: 'default', principal: 'ann' }
      : undefined,
})

export const GET = lull.fetch
export const POST = lull.fetch
