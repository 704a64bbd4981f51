import { demoAgents } from '../../demo/demo-agents.ts'
import type { Command } from '../command.ts'
import { serveUntilStopped, servingFlags } from '../serving.ts'

export const demo: Command = {
  name: 'demo',
  about: 'Serve the demo agents',
  flags: servingFlags,
  examples: ['demo', 'demo --port 9000 --data ./demo-data'],
  serves: true,
  run: (input, io) => serveUntilStopped(demoAgents, input, io, 'demo'),
}
