import type { Command } from '../command.ts'
import { serveUntilStopped, servingFlags } from '../serving.ts'

export const demo: Command = {
  name: 'demo',
  about: 'Serve the demo agents',
  flags: servingFlags,
  examples: ['demo', 'demo --port 9000 --data ./demo-data'],
  serves: true,
  async run(input, io) {
    const { demoAgents } = await import('../../demo/demo-agents.ts')
    return serveUntilStopped(demoAgents, input, io, 'demo')
  },
}
