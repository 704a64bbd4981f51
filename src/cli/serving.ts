/** For `demo` and `serve`: starts the server, prints its address, and waits until the process is asked to stop. */
import type { Agent } from '../server/serve.ts'
import { authIn, portIn, storeIn } from '../server/settings/settings.ts'
import { version } from '../server/settings/version.ts'
import { type ExitCode, exitCodes, type Flag, type Input, type Io } from './command.ts'

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

function readAuth(input: Input) {
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
