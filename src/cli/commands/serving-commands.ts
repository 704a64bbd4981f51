/** The commands that serve until they are asked to stop: `demo`, `serve`, `acp` and `mcp`. */
import type { Agent } from '../../server/serve.ts'
import { authIn, portIn, storeIn } from '../../server/settings/settings.ts'
import { version } from '../../server/settings/version.ts'
import {
  type Command,
  type ExitCode,
  exitCodes,
  type Flag,
  type Input,
  type Io,
  UsageError,
} from '../command.ts'
import { agentSourceFlags, agentsFor } from '../input/load-agents.ts'
import { clientFor, serverUrl } from '../input/server-access.ts'

const storeFlags = {
  host: { value: 'address', about: 'Address to listen on (HOST, default 127.0.0.1)' },
  data: { value: 'directory', about: 'Where tasks are kept (LULL_DATA, default ./.lull)' },
  postgres: {
    value: 'url',
    about: 'PostgreSQL that keeps tasks, for many processes (LULL_POSTGRES)',
  },
  config: { value: 'file', about: 'Configuration, JSON (LULL_CONFIG)' },
}

const servingFlags: Readonly<Record<string, Flag>> = {
  port: { value: 'number', about: 'Port to listen on; 0 takes a free one (PORT, default 8787)' },
  host: storeFlags.host,
  data: storeFlags.data,
  store: {
    value: 'kind',
    about: 'sqlite, postgres or memory: what keeps tasks (LULL_STORE, default sqlite)',
  },
  postgres: storeFlags.postgres,
  config: storeFlags.config,
  auth: { value: 'kinds', about: 'Ask for a credential: keys, jwt, or both (LULL_AUTH)' },
  insecure: { about: 'Listen on an address others can reach, without authentication' },
}

const demo: Command = {
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

const serve: Command = {
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

const acp: Command = {
  name: 'acp',
  args: '<agents module>',
  about: 'Serve the agents to an editor, on stdin and stdout (Agent Client Protocol)',
  flags: {
    port: { value: 'number', about: 'Serve A2A too, on this port; 0 takes a free one' },
    ...storeFlags,
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

const mcp: Command = {
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

export const servingCommands: readonly Command[] = [demo, serve, acp, mcp]

async function load(): Promise<typeof import('../../mcp/server/serve-mcp.ts')> {
  try {
    return await import('../../mcp/server/serve-mcp.ts')
  } catch (cause) {
    throw new UsageError('lull mcp needs a package: npm install @modelcontextprotocol/server', {
      cause,
    })
  }
}

function readAuth(input: Input) {
  const modes = authIn(input.text('auth'), '--auth')
  return modes === undefined ? {} : { auth: { modes } }
}

async function serveUntilStopped(
  agents: readonly Agent[],
  input: Input,
  io: Io,
  kind: 'demo' | 'own',
): Promise<ExitCode> {
  const { startServer } = await import('../../server/serve.ts')
  const serving = await startServer({
    agents,
    port: portIn(input.text('port'), '--port'),
    host: input.text('host'),
    data: input.text('data'),
    store: storeIn(input.text('store'), '--store'),
    postgres: input.text('postgres'),
    config: input.text('config'),
    ...readAuth(input),
    insecure: input.has('insecure'),
  })
  // The signal handlers are installed before the first line is printed, because a program that reads the line may stop this one at once.
  const stopped = io.stopped(serving.close)
  const { url, data, tasksIn } = serving
  if (input.has('json')) {
    io.print(JSON.stringify({ url, data, agents: agents.map(({ name }) => name) }))
  } else {
    for (const line of welcome({ url, tasksIn, agents, kind }, io)) io.print(line)
  }
  await stopped
  return exitCodes.ok
}

interface Served {
  readonly url: string
  readonly tasksIn: string
  readonly agents: readonly Agent[]
  readonly kind: 'demo' | 'own'
}

/** The lines printed after the start: the addresses, commands to try, and how to stop. */
function welcome(served: Served, { paint, self }: Io): readonly string[] {
  const { url, tasksIn, agents, kind } = served
  const width = Math.max(...agents.map(({ name }) => name.length))
  const address = (name: string, index: number): string =>
    index === 0 ? `${url}/` : `${url}/agents/${name}/`
  const lines = agents.map(
    ({ name, description }, index) =>
      `  ${paint('bold', name.padEnd(width))}  ${paint('cyan', address(name, index))}\n  ${' '.repeat(width)}  ${paint('dim', description)}`,
  )
  return [
    `Lull ${version} is serving at ${paint('cyan', url)}, with its data in ${tasksIn}`,
    '',
    ...lines,
    '',
    `Dashboard: ${paint('cyan', `${url}/dashboard/`)}`,
    '',
    'Try, in another terminal:',
    '',
    ...toTry[kind](url).map((words) => `  ${self} ${words}`),
    '',
    'Ctrl-C stops it: running turns finish, and every task goes on at the next start.',
  ]
}

const toTry: Readonly<Record<Served['kind'], (url: string) => readonly string[]>> = {
  demo: (url) => [
    `send ${url} "Generate an image of a sailboat on the ocean."`,
    `send ${url} "Book a flight to Helsinki for next week."`,
    `tasks list --url ${url}`,
  ],
  own: (url) => [`send ${url} "Hello"`, `tasks list --url ${url}`],
}
