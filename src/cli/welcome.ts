import type { Agent } from '../server/serve.ts'
import { version } from '../server/version.ts'
import type { Io } from './command.ts'

export interface Served {
  readonly url: string
  readonly tasksIn: string
  readonly agents: readonly Agent[]
  readonly kind: 'demo' | 'own'
}

/** The lines printed after the start: the addresses, commands to try, and how to stop. */
export function welcome(served: Served, { paint, self }: Io): readonly string[] {
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
