import { portIn } from '../../server/settings/settings.ts'
import { type Command, exitCodes, type Flag } from '../command.ts'
import { agentSourceFlags, agentsFor } from '../input/load-agents.ts'
import { servingFlags } from '../serving.ts'

const { data, postgres, config, host } = servingFlags as Record<
  'data' | 'postgres' | 'config' | 'host',
  Flag
>

export const acp: Command = {
  name: 'acp',
  args: '<agents module>',
  about: 'Serve the agents to an editor, on stdin and stdout (Agent Client Protocol)',
  flags: {
    port: { value: 'number', about: 'Serve A2A too, on this port; 0 takes a free one' },
    host,
    data,
    postgres,
    config,
    ...agentSourceFlags,
  },
  examples: ['acp ./agents.js', 'acp ./agents.js --port 8787', 'acp --script --data ./data'],
  serves: true,
  async run(input, io) {
    // stdout is reserved before the agents are loaded, because their output must not mix with protocol messages.
    const streams = io.speak()
    const { serveStdio } = await import('../../server/acp/serve-stdio.ts')
    const serving = await serveStdio({
      agents: await agentsFor(input),
      port: portIn(input.text('port'), '--port'),
      host: input.text('host'),
      data: input.text('data'),
      postgres: input.text('postgres'),
      config: input.text('config'),
      ...streams,
    })
    const { url, attachedTo } = serving
    if (attachedTo !== undefined) {
      io.warn('lull: another process has the data directory; its agents answer')
    }
    if (url !== undefined) io.warn(`lull: serving A2A at ${url}`)
    let inOrder = true
    const left = serving.ended.then(async (ours) => {
      inOrder = ours
      await serving.close()
    })
    await Promise.race([io.stopped(serving.close), left])
    if (inOrder) return exitCodes.ok
    io.warn('lull: the process that had the data directory is gone; start again')
    return exitCodes.unreachable
  },
}
