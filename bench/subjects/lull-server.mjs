/** Our server as `serve` starts it, with durable storage (FULL), and the agents the HTTP rows talk to. */
import { farTimeout } from '../harness/filled.mjs'
import { load } from '../harness/lull.mjs'
import { sleeper } from '../harness/parked.mjs'
import { greeting } from '../harness/requests.mjs'
import { serveSubject, settledMemory } from '../harness/subject.mjs'

const HOUR_MS = 3_600_000

await serveSubject(async ({ path }) => {
  const { agent } = await load('engine/author/agent.js')
  const { serve } = await load('server/serve.js')
  const greeter = agent({
    name: 'greeter',
    description: 'Greets.',
    run: () => ({ name: 'greeting', text: greeting }),
  })
  /** Stands at a step boundary for as long as it lives: its step failed and is to be tried again in an hour. */
  const idler = agent({
    name: 'idler',
    description: 'Waits to try again.',
    run: (task) => task.step('poll', fail, { retry: { attempts: 9, backoffMs: HOUR_MS } }),
  })
  const agents = [greeter, idler, await sleeper({ timeoutOf: farTimeout })]
  const server = await serve({ agents, port: 0, data: path, log, quiet: true })
  return {
    ready: { port: server.port },
    handlers: {
      cpu: () => process.cpuUsage(),
      memory: settledMemory,
      close: () => server.close(),
    },
  }
})

function fail() {
  throw new Error('not yet')
}

function log(level, text, facts) {
  if (level === 'error') process.stderr.write(`${text} ${JSON.stringify(facts)}\n`)
}
