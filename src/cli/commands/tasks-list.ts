import type { Client } from '../../client/client.ts'
import type { Task } from '../../client/task.ts'
import { type State, states } from '../../core/states.ts'
import { type Command, exitCodes, type Input, UsageError } from '../command.ts'
import { clientOf, urlFlag } from '../remote.ts'
import { age, messageText, plain, stateText } from '../render.ts'

const LIMIT = 20
const PAGE = 100

export const tasksList: Command = {
  name: 'tasks list',
  about: 'List tasks, the newest first',
  flags: {
    state: { value: 'state', about: 'Only tasks in this state, such as paused-by-agent' },
    context: { value: 'id', about: 'Only tasks of this conversation' },
    quiet: { short: 'q', about: 'Print ids only' },
    limit: { value: 'number', about: `At most so many (default ${LIMIT})` },
    ...urlFlag,
  },
  examples: ['tasks list', 'tasks list --state input-required', 'tasks list -q --limit 1'],
  async run(input, io) {
    if (input.words.length > 0) throw new UsageError('list takes flags only')
    const { tasks, total } = await collect(clientOf(input), input)
    if (input.has('json')) {
      io.print(JSON.stringify({ tasks, total }))
      return exitCodes.ok
    }
    if (input.has('quiet')) {
      for (const { id } of tasks) io.print(plain(id))
      return exitCodes.ok
    }
    const now = Date.now()
    const width = Math.max(...tasks.map(({ state }) => state.length), 0)
    for (const task of tasks) {
      const { state } = task
      const cells = [
        plain(task.id),
        stateText(state, io.paint) + ' '.repeat(width - state.length),
        io.paint('dim', age(task.status.timestamp, now).padStart(6)),
        messageText(task.status.message).replaceAll('\n', ' '),
      ]
      io.print(cells.join('  ').trimEnd())
    }
    // With a state, the server's count may include tasks that only we can tell apart.
    const count = input.has('state') ? `${tasks.length}` : `${tasks.length} of ${total}`
    io.print(io.paint('dim', `${count} tasks`))
    return exitCodes.ok
  },
}

/** Page after page, since one may hold fewer tasks of a state than it has room for. */
async function collect(
  client: Client,
  input: Input,
): Promise<{ readonly tasks: readonly Task[]; readonly total: number }> {
  const [state, contextId, limit] = [stateIn(input), input.text('context'), limitIn(input)]
  const filter = { contextId, state, pageSize: Math.min(limit, PAGE), historyLength: 0 }
  const found: Task[] = []
  let pageToken: string | undefined
  for (;;) {
    const page = await client.list({ ...filter, pageToken })
    found.push(...page.tasks)
    pageToken = page.nextPageToken
    if (found.length >= limit || pageToken === '') {
      return { tasks: found.slice(0, limit), total: page.totalSize }
    }
  }
}

function stateIn(input: Input): State | undefined {
  const text = input.text('state')
  if (text === undefined) return undefined
  const state = states.find((one) => one === text)
  if (state !== undefined) return state
  throw new UsageError(`there is no state "${text}"; there are ${states.join(', ')}`)
}

function limitIn(input: Input): number {
  const text = input.text('limit')
  if (text === undefined) return LIMIT
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new UsageError('--limit takes a whole number above 0')
}
