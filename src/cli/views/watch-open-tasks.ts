/** Shows all open tasks until Ctrl-C: on a terminal a table that is drawn again in place, otherwise a line per change. */
import { isClientError } from '../../client/client-error.ts'
import type { Changes, TaskList, TaskSummary } from '../../client/index.ts'
import { type Ops, readPages } from '../../client/ops-client.ts'
import { isTerminal, type State, states } from '../../core/states.ts'
import { durationText } from '../../core/values/duration.ts'
import type { Io, Paint } from '../command.ts'
import { followChanges, sleep } from './follow.ts'
import { drawWhile, type Size } from './live-block.ts'
import { ageText, countText, oneLine, stateText } from './render.ts'

const open: readonly State[] = states.filter((state) => !isTerminal(state))
const MOST = 100
/** The list is read at most once in this time, however many tasks change. */
const READ_MS = 500

export interface Watched {
  readonly ops: Ops
  /** Only tasks of this agent. */
  readonly agent: string | undefined
}

/** Runs until the process ends. @throws an error that a retry cannot fix */
export async function watchOpenTasks(watched: Watched, json: boolean, io: Io): Promise<void> {
  const never = new AbortController().signal
  if (json || io.size() === undefined) return printChanges(watched, json, io, never)
  let [list, readAt, lostAt] = [await readOpenTasks(watched), Date.now(), 0]
  const lines = (size: Size): readonly string[] =>
    table(list, Date.now() - readAt, lostAt === 0 ? 0 : Date.now() - lostAt, size, io)
  await drawWhile(io, lines, async (redraw) => {
    const again = async (): Promise<void> => {
      ;[list, readAt, lostAt] = [await readOpenTasks(watched), Date.now(), 0]
      redraw()
    }
    const feed = {
      connected: again,
      async changed() {
        await again()
        await sleep(READ_MS, never)
      },
      lost() {
        lostAt ||= Date.now()
        redraw()
      },
    }
    await followChanges(watched.ops, feed, never)
  })
}

function readOpenTasks({ ops, agent }: Watched, cursor?: string): Promise<TaskList> {
  return ops.tasks({ states: open, agent, limit: MOST, counts: false, cursor })
}

async function printChanges(
  watched: Watched,
  json: boolean,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  /** By open task: the last line printed, or the last version with `--json`. */
  const printed = new Map<string, string>()
  const print = (tasks: readonly TaskSummary[]): void => {
    for (const task of tasks) {
      if (watched.agent !== undefined && task.agent !== watched.agent) continue
      const line = json ? JSON.stringify(task) : changeLine(task, io.paint)
      const key = json ? String(task.version) : line
      if (printed.get(task.taskId) === key) continue
      printed.set(task.taskId, key)
      if (!open.some((state) => state === task.state)) printed.delete(task.taskId)
      io.print(line)
    }
  }
  const again = async (): Promise<void> => {
    const missing = new Set(printed.keys())
    for await (const page of readPages((cursor) => readOpenTasks(watched, cursor))) {
      print(page.tasks.toReversed())
      for (const { taskId } of page.tasks) missing.delete(taskId)
      if (missing.size === 0) break
    }
    // The remaining tasks ended while the connection was lost.
    for (const taskId of missing) {
      const task = await readEndedTask(watched.ops, taskId)
      if (task === undefined) printed.delete(taskId)
      else print([task])
    }
  }
  await again()
  const feed = {
    connected: again,
    async changed({ tasks, more }: Changes) {
      print(tasks)
      if (more) await again()
    },
    lost: () => io.warn(io.paint('dim', 'connection lost; waiting for the server')),
  }
  await followChanges(watched.ops, feed, signal)
}

/** @returns undefined when the task was removed from the store */
async function readEndedTask(ops: Ops, taskId: string): Promise<TaskSummary | undefined> {
  try {
    return await ops.task(taskId)
  } catch (error) {
    if (isClientError(error, 'TASK_NOT_FOUND')) return undefined
    throw error
  }
}

function changeLine({ taskId, state, agent, says }: TaskSummary, paint: Paint): string {
  return [oneLine(taskId), stateText(state, paint), oneLine(agent), oneLine(says)].join('  ')
}

/** @param passedMs since the list was read @param lostMs since the connection was lost; 0 while it is open */
function table(
  { tasks, total }: TaskList,
  passedMs: number,
  lostMs: number,
  { rows }: Size,
  io: Io,
): readonly string[] {
  const { paint } = io
  const visible = tasks.slice(0, Math.max(1, rows - 4))
  const count = countText(total, 'open task')
  const away = lostMs === 0 ? '' : paint('red', `  not live for ${durationText(lostMs)}`)
  const more = total - visible.length
  return [
    `${paint('bold', count)}${away}`,
    ...rowsOf(visible, passedMs, paint),
    ...(more > 0 ? [paint('dim', `and ${more} more`)] : []),
    ...(total === 0 ? [`No task is open. Start one with ${io.self} send <url> "Hello"`] : []),
    paint('dim', 'Ctrl-C ends this view; the tasks go on'),
  ]
}

/** How much of an id is visible. Every command accepts the end of an id in place of the whole. */
const SHORT_ID = 8

function rowsOf(tasks: readonly TaskSummary[], passedMs: number, paint: Paint): readonly string[] {
  const wide = (texts: readonly string[]): number => Math.max(0, ...texts.map((one) => one.length))
  const [stateWidth, agentWidth] = [
    wide(tasks.map(({ state }) => oneLine(state))),
    wide(tasks.map(({ agent }) => oneLine(agent))),
  ]
  return tasks.map(({ taskId, state, since, agent, turn, says, title, remainingMs }) =>
    [
      oneLine(taskId).slice(-SHORT_ID),
      stateText(state, paint) + ' '.repeat(stateWidth - oneLine(state).length),
      paint('dim', ageText(since, Date.now()).padStart(6)),
      oneLine(agent).padEnd(agentWidth),
      paint('dim', oneLine(`turn ${turn}`)),
      paint('cyan', dueText(remainingMs, passedMs).padEnd(13)),
      oneLine(state === 'working' && says === 'Working' ? title : says),
    ].join('  '),
  )
}

function dueText(remainingMs: number | undefined, passedMs: number): string {
  if (remainingMs === undefined) return ''
  const left = remainingMs - passedMs
  return left <= 0 ? 'due now' : `in ${durationText(Math.ceil(left / 1_000) * 1_000)}`
}
