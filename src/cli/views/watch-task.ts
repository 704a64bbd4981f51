/** Shows one task until it ends: a line for each event, and on a terminal live lines below with its present state. */
import type { Client } from '../../client/client.ts'
import type { Changes, TimelineEntry } from '../../client/index.ts'
import type { Ops } from '../../client/ops-client.ts'
import { applyFrame } from '../../client/tasks/apply-frame.ts'
import type { Task, TaskState } from '../../client/tasks/task-types.ts'
import type { Io } from '../command.ts'
import { followChanges } from './follow-changes.ts'
import { followTimeline, printEntry } from './follow-timeline.ts'
import { endOf } from './live-block.ts'
import { drawWhile, type Size } from './live-lines.ts'
import { oneLine } from './render.ts'
import { createFrameView } from './show-frames.ts'
import { SAYS_AT, type TaskView, taskBlock, viewOfSummary, viewOfTask } from './task-lines.ts'

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
