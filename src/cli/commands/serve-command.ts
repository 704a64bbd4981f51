import type { Command } from '../command.ts'
import { agentSourceFlags, agentsFor } from '../input/load-agents.ts'
import { serveUntilStopped, servingFlags } from '../serving.ts'

export const serve: Command = {
  name: 'serve',
  args: '<agents module>',
  about: 'Serve the agents a module exports',
  flags: { ...servingFlags, ...agentSourceFlags },
  examples: ['serve ./agents.js', 'serve ./agents.js --port 9000 --data ./data', 'serve --script'],
  serves: true,
  async run(input, io) {
    return serveUntilStopped(await agentsFor(input), input, io, input.has('demo') ? 'demo' : 'own')
  },
}
