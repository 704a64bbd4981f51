/** Shared by `demo` and `serve`: starts the server, prints its address, waits until the process is asked to stop. */
import type { Agent } from '../server/serve.ts'
import { authIn, portIn, storeIn } from '../server/settings.ts'
import { type ExitCode, exitCodes, type Flag, type Input, type Io } from './command.ts'
import { welcome } from './welcome.ts'

export const servingFlags: Readonly<Record<string, Flag>> = {
  port: { value: 'number', about: 'Port to listen on; 0 takes a free one (PORT, default 8787)' },
  host: { value: 'address', about: 'Address to listen on (HOST, default 127.0.0.1)' },
  data: { value: 'directory', about: 'Where tasks are kept (LULL_DATA, default ./.lull)' },
  store: {
    value: 'kind',
    about: 'sqlite, postgres or memory: what keeps tasks (LULL_STORE, default sqlite)',
  },
  postgres: {
    value: 'url',
    about: 'PostgreSQL that keeps tasks, for many processes (LULL_POSTGRES)',
  },
  config: { value: 'file', about: 'Configuration, JSON (LULL_CONFIG)' },
  auth: { value: 'kinds', about: 'Ask for a credential: keys, jwt, or both (LULL_AUTH)' },
  insecure: { about: 'Listen on an address others can reach, without authentication' },
}

function authOption(input: Input) {
  const modes = authIn(input.text('auth'), '--auth')
  return modes === undefined ? {} : { auth: { modes } }
}

export async function serveUntilStopped(
  agents: readonly Agent[],
  input: Input,
  io: Io,
  kind: 'demo' | 'own',
): Promise<ExitCode> {
  const { startServer } = await import('../server/serve.ts')
  const serving = await startServer({
    agents,
    port: portIn(input.text('port'), '--port'),
    host: input.text('host'),
    data: input.text('data'),
    store: storeIn(input.text('store'), '--store'),
    postgres: input.text('postgres'),
    config: input.text('config'),
    ...authOption(input),
    insecure: input.has('insecure'),
  })
  // The signal handlers are installed before the first line is printed, because its reader may stop us at once.
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
