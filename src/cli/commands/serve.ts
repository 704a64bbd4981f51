import { demoAgents } from '../../demo/demo-agents.ts'
import type { Agent } from '../../server/serve.ts'
import { scriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type Command, type Input, UsageError } from '../command.ts'
import { loadAgents } from '../load-agents.ts'
import { serveUntilStopped, servingFlags } from '../serving.ts'

export const serve: Command = {
  name: 'serve',
  args: '<agents module>',
  about: 'Serve the agents a module exports',
  flags: {
    ...servingFlags,
    script: { about: 'Serve the script agent in place of a module' },
    demo: { about: 'Serve the demo agents in place of a module' },
  },
  examples: ['serve ./agents.js', 'serve ./agents.js --port 9000 --data ./data', 'serve --script'],
  serves: true,
  async run(input, io) {
    return serveUntilStopped(await agentsFor(input), input, io, input.has('demo') ? 'demo' : 'own')
  },
}

async function agentsFor(input: Input): Promise<readonly Agent[]> {
  const { words, has } = input
  const [file, ...more] = words
  const sources = [file !== undefined, has('script'), has('demo')].filter(Boolean)
  if (sources.length !== 1 || more.length > 0) {
    throw new UsageError('give one module of agents, or --script, or --demo')
  }
  if (file !== undefined) return loadAgents(file)
  return has('script') ? [scriptAgent] : demoAgents
}
