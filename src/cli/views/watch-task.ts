/** Shows one task until it ends: a line for each event, and on a terminal live lines below with its present state. */

import type { Client } from '../../client/client.ts'
import type { Changes, TaskSummary, TimelineEntry } from '../../client/index.ts'
import type { Ops } from '../../client/ops-client.ts'
import { applyFrame } from '../../client/tasks/apply-frame.ts'
import type { Task, TaskState } from '../../client/tasks/task-types.ts'
import { isPaused } from '../../core/states.ts'
import { durationText } from '../../core/values/duration.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import { waitText } from '../../core/waiting/wait-text.ts'
import type { Io, Paint } from '../command.ts'
import { followChanges, followTimeline, printEntry } from './follow.ts'
import { drawWhile, endOf, type Size } from './live-block.ts'
import { ageText, oneLine, stateText, statusText, stillActs } from './render.ts'
import { createFrameView } from './show-frames.ts'

/** @param first the task as it is now @returns its last state */
export async function watchTask(client: Client, ops: Ops, first: Task, io: Io): Promise<TaskState> {
  // Undefined when the server is not Lull, or when the caller may not read `/ops`.
  const summary = await ops.task(first.id).catch(() => undefined)
  const lines = createLinePrinter(io)
  const frames = createFrameView(lines.io)
  let task: Task | undefined = first
  let seen = summary && viewOfSummary(summary, Date.now())
  let step: TimelineEntry | undefined

  const block = ({ columns }: Size): readonly string[] => {
    // The task writes at the end of the text, so the end is shown.
    const text = endOf(oneLine(lines.rest()), columns - SAYS_AT - 1)
    return taskBlock(seen ?? viewOfTask(task ?? first), step, text, Date.now(), io.paint)
  }

  return drawWhile(io, block, async (redraw) => {
    const left = new AbortController()
    const onLost = (): void => io.warn(io.paint('dim', 'connection lost; waiting for the server'))
    const timeline = followTimeline(client.url, first.id, summary?.version ?? 'latest', (entry) => {
      if (entry.kind === 'step' || entry.kind === 'tool') step = entry
      printEntry(entry, io)
      redraw()
    })
    const summaries =
      summary &&
      io.size() &&
      followSummaries(ops, first.id, left.signal, (view) => {
        seen = view
        redraw()
      })
    try {
      for await (const frame of client.watch(first.id, { onLost })) {
        task = applyFrame(task, frame)
        frames.frame(frame)
        redraw()
      }
    } finally {
      lines.end()
      left.abort()
      await Promise.all([timeline.end(), summaries])
    }
    return task?.state ?? first.state
  })
}

/** Follows the task in `/ops`, which has the turn, the progress and the clock of the server. */
async function followSummaries(
  ops: Ops,
  taskId: string,
  signal: AbortSignal,
  see: (view: TaskView) => void,
): Promise<void> {
  const feed = {
    connected: async () => see(viewOfSummary(await ops.task(taskId), Date.now())),
    async changed({ tasks }: Changes) {
      const summary = tasks.find((one) => one.taskId === taskId)
      if (summary !== undefined) see(viewOfSummary(summary, Date.now()))
    },
    lost: () => undefined,
  }
  await followChanges(ops, feed, signal).catch(() => undefined)
}

/** Longer lines are printed in pieces. */
const LONGEST_LINE = 8_192

/** Prints text only in whole lines, so that live lines can stand below. `rest` is the text of the unfinished line. */
export function createLinePrinter(io: Io): { readonly io: Io; rest(): string; end(): void } {
  if (io.size() === undefined) return { io, rest: () => '', end: () => undefined }
  let rest = ''
  const end = (): void => {
    if (rest !== '') io.print(rest)
    rest = ''
  }
  const print = (line: string): void => {
    end()
    io.print(line)
  }
  const write = (text: string): void => {
    const all = `${rest}${text}`.split('\n')
    rest = all.pop() ?? ''
    for (const line of all) io.print(line)
    if (rest.length > LONGEST_LINE) end()
  }
  return { io: { ...io, print, write }, rest: () => rest, end }
}

/** The shown state of a task. A Lull server fills every member, another A2A agent some of them. */
interface TaskView {
  readonly state: string
  readonly since?: string | undefined
  readonly agent?: string | undefined
  readonly turn?: number | undefined
  readonly progress?: number | undefined
  readonly pausing?: boolean | undefined
  readonly why?: string | undefined
  readonly conditions?: ResumeConditions | undefined
  readonly deadlineAt?: string | undefined
  readonly isStopped: boolean
  readonly mayStillAct?: readonly string[] | undefined
  readonly says: string
  /** How far the server's clock is ahead of the clock of this machine. */
  readonly skewMs: number
}

export function viewOfSummary(task: TaskSummary, now: number): TaskView {
  const { state, since, agent, turn, progress, pausing, stop, says, dueAt, remainingMs } = task
  const { mayStillAct } = task
  const isStopped = stop !== undefined && !pausing
  return {
    ...{ state, since, agent, turn, progress, pausing, isStopped, mayStillAct },
    why: stop?.reason,
    conditions: (stop?.conditions ?? undefined) as ResumeConditions | undefined,
    deadlineAt: stop?.deadlineAt,
    says: isStopped ? '' : says,
    skewMs:
      dueAt === undefined || remainingMs === undefined ? 0 : Date.parse(dueAt) - remainingMs - now,
  }
}

function viewOfTask(task: Task): TaskView {
  const { state, status, suspension } = task
  const isStopped = state !== 'unknown' && isPaused(state)
  return {
    state,
    since: status.timestamp,
    isStopped,
    mayStillAct: suspension?.mayStillAct,
    pausing: suspension?.pausing,
    why: suspension?.reason,
    conditions: suspension?.conditions,
    deadlineAt: suspension?.deadlineAt,
    says: isStopped ? '' : statusText(task),
    skewMs: 0,
  }
}

const WORD = 6
/** The column in which a text begins. */
const SAYS_AT: number = 2 + WORD + 1

/** @param text the last line that the task is writing; empty when there is none */
export function taskBlock(
  view: TaskView,
  step: TimelineEntry | undefined,
  text: string,
  now: number,
  paint: Paint,
): readonly string[] {
  const at = now + view.skewMs
  const head = [
    `${stateText(view.state, paint)}${view.pausing === true ? ', pausing' : ''}`,
    view.agent === undefined ? '' : oneLine(view.agent),
    view.turn === undefined ? '' : oneLine(`turn ${view.turn}`),
    paint('dim', `for ${ageText(view.since, at) || 'a while'}`),
    bar(view.progress),
  ]
  const rows: readonly (readonly [string, string])[] = [
    ['step', step === undefined ? '' : stepText(step, at)],
    ['acts', view.mayStillAct === undefined ? '' : stillActs(view.mayStillAct)],
    ['why', view.why ?? ''],
    [
      'wakes',
      view.isStopped ? waitText(view.conditions, view.deadlineAt, at, { precision: 'exact' }) : '',
    ],
    ['says', text === '' ? view.says : text],
  ]
  return [
    head.filter((part) => part !== '').join('  '),
    ...rows.flatMap(([word, value]) =>
      value === '' ? [] : [`  ${paint('dim', word.padEnd(WORD))} ${oneLine(value)}`],
    ),
  ]
}

function stepText({ name, attempt = 1, outcome, text, at }: TimelineEntry, now: number): string {
  const ago = durationText(Math.max(0, now - Date.parse(at)))
  const which = attempt > 1 ? `, attempt ${attempt}` : ''
  const why = text === undefined ? '' : `: ${text}`
  return `${name ?? ''}${which} ${outcome ?? ''}${why} (${ago} ago)`
}

const BAR = 20

function bar(fraction: number | undefined): string {
  if (fraction === undefined) return ''
  const done = Math.round(fraction * BAR)
  return `${'█'.repeat(done)}${'░'.repeat(BAR - done)} ${Math.round(fraction * 100)} %`
}
