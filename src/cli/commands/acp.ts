import { serveStdio } from '../../server/serve-stdio.ts'
import { agentSourceFlags, agentsFor } from '../agents-for.ts'
import { type Command, exitCodes } from '../command.ts'
import { servingFlags } from '../serving.ts'

const { data, config } = servingFlags

export const acp: Command = {
  name: 'acp',
  args: '<agents module>',
  about: 'Serve the agents to an editor, on stdin and stdout (Agent Client Protocol)',
  flags: { data, config, ...agentSourceFlags } as Command['flags'],
  examples: ['acp ./agents.js', 'acp ./agents.js --data ./data', 'acp --script'],
  serves: true,
  async run(input, io) {
    // Before the agents are loaded: what they print must not end up between our messages.
    const streams = io.speak()
    const serving = await serveStdio({
      agents: await agentsFor(input),
      data: input.text('data'),
      config: input.text('config'),
      ...streams,
    })
    const stopped = io.stopped(serving.close)
    await Promise.race([stopped, serving.ended.then(serving.close)])
    return exitCodes.ok
  },
}
