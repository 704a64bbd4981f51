/** The commands that read tasks: list, show, watch. */
import type { Client } from '../../client/client.ts'
import { createOps, readPages } from '../../client/ops-client.ts'
import type { Task } from '../../client/tasks/task-types.ts'
import { states } from '../../core/states.ts'
import { plain } from '../../core/values/printable.ts'
import {
  type Command,
  exitCodeOf,
  exitCodes,
  type Input,
  type Io,
  type Paint,
  printResult,
  UsageError,
} from '../command.ts'
import { expectNoWords, readChoice } from '../input/read-input.ts'
import { clientOf, credentials, opsFor, serverUrl, urlFlag } from '../input/server-access.ts'
import { readTask } from '../input/task-id.ts'
import {
  ageText,
  countText,
  messageText,
  oneLine,
  stateText,
  statusText,
  taskLines,
} from '../views/render.ts'
import { saveArtifacts } from '../views/save-artifacts.ts'
import { watchOpenTasks } from '../views/watch-open-tasks.ts'
import { watchTask } from '../views/watch-task.ts'

const LIMIT = 20
const PAGE = 100

const list: Command = {
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
    expectNoWords(input, 'list takes flags only')
    const wanted = readWanted(input)
    const { tasks, total } = await fetchTasks(clientOf(input), wanted)
    if (input.has('json') || input.has('quiet')) {
      const ids = tasks.map(({ id }) => plain(id))
      return printResult(input, io, { tasks, total }, ids)
    }
    const rows = (await fetchOpsRows(input, wanted)) ?? tasks.map(rowOfTask)
    for (const line of tableLines(rows, io.paint)) io.print(line)
    // The server counts core states. With a filter by state its total may include tasks that the client filters out.
    const all = input.has('state') || tasks.length === total
    const count = countText(tasks.length, 'task')
    io.print(io.paint('dim', all ? count : `${tasks.length} of ${countText(total, 'task')}`))
    return exitCodes.ok
  },
}

interface Row {
  readonly id: string
  readonly state: string
  readonly since: string | undefined
  /** Known only from a Lull server. */
  readonly agent: string
  readonly text: string
}

function rowOfTask(task: Task): Row {
  const { id, state, status } = task
  return { id, state, since: status.timestamp, agent: '', text: statusText(task) }
}

/** Rows from `/ops`, with the agent and what each task waits for. @returns undefined when the server is not Lull */
async function fetchOpsRows(
  input: Input,
  { state, contextId, limit }: Wanted,
): Promise<readonly Row[] | undefined> {
  const url = serverUrl(input)
  const agent = /\/agents\/([^/]+)\/?$/.exec(url)?.[1]
  const filter = { contextId, agent, ...(state === undefined ? {} : { states: [state] }) }
  const ops = createOps({ url, headers: credentials() })
  const rows: Row[] = []
  try {
    const query = { ...filter, limit: Math.min(limit, PAGE) }
    for await (const page of readPages((cursor) => ops.tasks({ ...query, cursor }))) {
      for (const task of page.tasks) rows.push({ ...task, id: task.taskId, text: task.says })
      if (rows.length >= limit) break
    }
    return rows.slice(0, limit)
  } catch {
    return undefined
  }
}

function tableLines(rows: readonly Row[], paint: Paint): readonly string[] {
  const now = Date.now()
  const states = Math.max(...rows.map(({ state }) => state.length), 0)
  const agents = Math.max(...rows.map(({ agent }) => agent.length), 0)
  return rows.map(({ id, state, since, agent, text }) =>
    [
      plain(id),
      stateText(state, paint) + ' '.repeat(states - state.length),
      paint('dim', ageText(since, now).padStart(6)),
      ...(agents === 0 ? [] : [plain(agent).padEnd(agents)]),
      oneLine(text),
    ]
      .join('  ')
      .trimEnd(),
  )
}

/** Reads pages until there are enough tasks, because a page filtered by state may have fewer than its size. */
async function fetchTasks(
  client: Client,
  { state, contextId, limit }: Wanted,
): Promise<{ readonly tasks: readonly Task[]; readonly total: number }> {
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

type Wanted = ReturnType<typeof readWanted>

function readWanted(input: Input) {
  const state = readChoice(input, 'state', states)
  return { state, contextId: input.text('context'), limit: readLimit(input) }
}

function readLimit(input: Input): number {
  const text = input.text('limit')
  if (text === undefined) return LIMIT
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new UsageError('--limit takes a whole number above 0')
}

const show: Command = {
  name: 'tasks show',
  args: '<task-id>',
  about: 'Show a task: its state, what it waits for, what was said, what it made',
  flags: {
    save: { value: 'directory', about: 'Write the artifacts into this directory' },
    ...urlFlag,
  },
  examples: ['tasks show <task-id>', 'tasks show <task-id> --save ./artifacts'],
  async run(input, io) {
    const { client, taskId } = await readTask(input)
    const task = await client.get(taskId)
    if (input.has('json')) {
      io.print(JSON.stringify(task))
    } else {
      for (const line of taskLines(task, io.paint)) io.print(line)
      io.print(`  context  ${task.contextId}`)
      if (task.status.timestamp !== undefined) io.print(`  since    ${task.status.timestamp}`)
      for (const message of task.history) {
        const who = message.role === 'ROLE_USER' ? 'user' : 'agent'
        io.print(`  ${io.paint('dim', who.padEnd(8))} ${messageText(message)}`)
      }
    }
    saveArtifacts(task.artifacts, input, io)
    return exitCodes.ok
  },
}

const watch: Command = {
  name: 'tasks watch',
  args: '[task-id]',
  about: 'Show live what happens to a task, or to all open tasks, also across a restart',
  flags: urlFlag,
  examples: ['tasks watch', 'tasks watch @last', 'tasks watch <task-id> --json'],
  async run(input, io) {
    return input.words.length === 0 ? watchAll(input, io) : watchOne(input, io)
  },
}

async function watchAll(input: Input, io: Io) {
  const url = serverUrl(input)
  const agent = /\/agents\/([^/]+)\/?$/.exec(url)?.[1]
  const forget = io.interrupted(() => 'The tasks go on.')
  try {
    await watchOpenTasks({ ops: opsFor(url), agent }, input.has('json'), io)
    return exitCodes.ok
  } finally {
    forget()
  }
}

async function watchOne(input: Input, io: Io) {
  const { client, ops, taskId } = await readTask(input)
  // The first read is not retried, so that a wrong address or id is reported at once.
  const first = await client.get(taskId)
  const forget = io.interrupted(() => `Task ${plain(taskId)} goes on.`)
  try {
    if (!input.has('json')) return exitCodeOf(await watchTask(client, ops, first, io))
    let { state } = first
    const onLost = (): void => io.warn('connection lost; waiting for the server')
    for await (const frame of client.watch(taskId, { onLost })) {
      io.print(JSON.stringify(frame))
      if (frame.kind === 'task') state = frame.task.state
      if (frame.kind === 'status') state = frame.state
    }
    return exitCodeOf(state)
  } finally {
    forget()
  }
}

export const tasksReadingCommands: readonly Command[] = [list, show, watch]
