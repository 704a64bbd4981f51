/** `lull replay`: rebuilds a task from its log, or runs new code against the logs of all open tasks. */

import { readPages } from '../../client/ops-client.ts'
import { plain } from '../../core/values/printable.ts'
import type {
  AgentsReplay,
  ReplayReport,
  TaskReplay,
  TaskSource,
} from '../../server/replay/replay-report.ts'
import {
  type Command,
  exitCodes,
  type Input,
  type Io,
  printResult,
  UsageError,
} from '../command.ts'
import { opsFor, serverUrl, urlFlag } from '../input/server-access.ts'
import { resolveIdAmong } from '../input/task-id.ts'
import { countText } from '../views/render.ts'

export const replay: Command = {
  name: 'replay',
  args: '[<task-id>]',
  about: 'Check a task from its log, or new code against the logs of all open tasks',
  flags: {
    agents: {
      value: 'module',
      about: 'Run these agents against the logs of open tasks, without any effect',
    },
    parked: { about: 'With --agents: only tasks that are paused or parked' },
    ...urlFlag,
    data: { value: 'directory', about: 'Read the data directory of a server that is stopped' },
    postgres: { value: 'url', about: 'Read a PostgreSQL database' },
    migrate: {
      about: 'Bring an older schema of that directory or database up to date. For a copy',
    },
  },
  examples: [
    'replay <task-id>',
    'replay --agents ./agents.mjs',
    'replay --agents ./agents.mjs --parked --postgres postgres://lull@db.example.com/lull',
  ],
  async run(input, io) {
    const module = input.text('agents')
    if ((module === undefined) === (input.words.length === 0) || input.words.length > 1) {
      throw new UsageError('give one task id, or --agents and a module')
    }
    if (module === undefined && input.has('parked')) {
      throw new UsageError('--parked belongs to --agents')
    }
    return withTasks(input, (tasks) =>
      module === undefined ? replayTask(input, tasks, io) : replayAll(input, tasks, module, io),
    )
  },
}

async function replayTask(input: Input, tasks: TaskSource, io: Io): Promise<0 | 1> {
  const { replayReport } = await import('../../server/replay/replay-report.ts')
  const taskId = await resolveIdAmong(tasks.ids(), input.words[0] ?? '')
  const report = replayReport(await tasks.recorded(taskId))
  printResult(input, io, report, taskLines(report, io))
  return report.ok ? exitCodes.ok : exitCodes.refused
}

function* taskLines(report: ReplayReport, io: Io): Generator<string> {
  const { taskId, state, records, receipts, timeline, faults, differences, ok } = report
  for (const { seq, at, kind, event, name, outcome, text } of timeline) {
    // For the task itself the event says more than the kind: submitted, started, completed.
    const what = kind === 'task' ? event : kind
    const words = [what.padEnd(9), name, outcome, text].flatMap((word) =>
      word === undefined ? [] : [plain(word).replaceAll('\n', ' ')],
    )
    yield `${String(seq).padStart(5)}  ${io.paint('dim', at)}  ${words.join('  ')}`.trimEnd()
  }
  for (const { seq, problem } of faults) yield io.paint('red', `record ${seq}: ${plain(problem)}`)
  for (const difference of differences) yield io.paint('red', plain(difference))
  const verdict = ok ? io.paint('green', 'the same, bit for bit') : io.paint('red', 'differs')
  yield `Task ${plain(taskId)}  ${state}  ${countText(records, 'record')}, ${countText(receipts, 'receipt')}: ${verdict}`
}

async function replayAll(input: Input, tasks: TaskSource, module: string, io: Io): Promise<0 | 1> {
  const { loadAgents } = await import('../input/load-agents.ts')
  const { replayOpenTasks } = await import('../../server/replay/replay-report.ts')
  const agents = await loadAgents(module)
  const report = await replayOpenTasks(tasks, agents, input.has('parked'))
  printResult(input, io, report, agentLines(report, io))
  return report.ok ? exitCodes.ok : exitCodes.refused
}

const colours = {
  fits: 'green',
  unclear: 'yellow',
  stops: 'red',
  fails: 'red',
  'agent-unknown': 'red',
  unreadable: 'red',
} as const

/** One line for each task that does not fit, and the counts of all. */
function* agentLines({ tasks, counts, ok }: AgentsReplay, io: Io): Generator<string> {
  for (const task of tasks) {
    if (task.verdict === 'fits') continue
    const verdict = io.paint(colours[task.verdict], task.verdict.padEnd(13))
    yield `${plain(task.taskId)}  ${plain(task.agent)}  ${verdict}  ${plain(reasonOf(task))}`
  }
  const found = Object.entries(counts).flatMap(([verdict, count]) =>
    count === 0 ? [] : [`${count} ${verdict}`],
  )
  const all = countText(tasks.length, 'open task')
  const summary = found.length === 0 ? all : `${all}: ${found.join(', ')}`
  yield ok ? summary : `${summary}. Do not deploy this before you have decided about these tasks.`
}

function reasonOf({ verdict, changes = [], failure, agent, goesOnFrom }: TaskReplay): string {
  if (verdict === 'agent-unknown') return `no agent is named ${agent}`
  if (failure !== undefined) return failure
  if (verdict === 'stops') {
    return changes
      .map(({ asked, recorded }) =>
        asked.key === recorded.key
          ? `${asked.name} is not the one that is recorded`
          : `asks for ${asked.name}, and ${recorded.name} is recorded there`,
      )
      .join('; ')
  }
  const places = goesOnFrom.map(({ name }) => name).join(', ')
  return places === '' ? 'waits for what is no operation' : `cannot be followed behind ${places}`
}

/** Reads tasks from a server, or from a store that no server has open. @throws UsageError */
async function withTasks<T>(input: Input, work: (tasks: TaskSource) => Promise<T>): Promise<T> {
  const [data, postgres] = [input.text('data'), input.text('postgres')]
  if ([data, postgres, input.text('url')].filter((one) => one !== undefined).length > 1) {
    throw new UsageError('give one of --url, --data and --postgres')
  }
  const { withStoredTasks } = await import('../../server/replay/replay-report.ts')
  const migrates = input.has('migrate')
  if (data !== undefined) return withStoredTasks({ data, store: 'sqlite' }, migrates, work)
  if (postgres !== undefined) return withStoredTasks({ postgres }, migrates, work)
  if (migrates) throw new UsageError('--migrate belongs to --data or --postgres')
  return work(tasksOf(serverUrl(input)))
}

const PAGE = 100

function tasksOf(url: string): TaskSource {
  const ops = opsFor(url)
  return {
    async recorded(taskId) {
      const { recordedIn } = await import('../../server/replay/replay-report.ts')
      return recordedIn(await ops.log(taskId))
    },
    async *ids(states) {
      for await (const page of readPages((cursor) => ops.tasks({ states, limit: PAGE, cursor }))) {
        for (const { taskId } of page.tasks) yield taskId
      }
    },
  }
}
