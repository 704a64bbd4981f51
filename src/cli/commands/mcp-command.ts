import { type Command, exitCodes, UsageError } from '../command.ts'
import { clientFor, serverUrl } from '../input/server-access.ts'

export const mcp: Command = {
  name: 'mcp',
  args: '[url]',
  about: 'Serve the tasks of an agent as tools, on stdin and stdout (Model Context Protocol)',
  flags: {},
  examples: ['mcp', 'mcp https://agents.example.com/agents/researcher'],
  serves: true,
  async run(input, io) {
    const [url = serverUrl(input), ...more] = input.words
    if (more.length > 0) throw new UsageError('give one address')
    const client = clientFor(url)
    const streams = io.speak()
    const { serveMcp } = await load()
    const serving = serveMcp(client, streams)
    await Promise.race([io.stopped(serving.close), serving.ended.then(serving.close)])
    return exitCodes.ok
  },
}

async function load(): Promise<typeof import('../../mcp/server/serve-mcp.ts')> {
  try {
    return await import('../../mcp/server/serve-mcp.ts')
  } catch (cause) {
    throw new UsageError('lull mcp needs a package: npm install @modelcontextprotocol/server', {
      cause,
    })
  }
}
