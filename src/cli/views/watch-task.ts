/** Shows what happens to one task until it ends: lines for what is over, and on a terminal live lines below. */
import type { Client } from '../../client/client.ts'
import type { Changes, TimelineEntry } from '../../client/index.ts'
import type { Ops } from '../../client/ops-client.ts'
import { applyFrame } from '../../client/tasks/apply-frame.ts'
import type { Task, TaskState } from '../../client/tasks/task-types.ts'
import type { Io } from '../command.ts'
import { followChanges } from './follow-changes.ts'
import { followTimeline, printEntry } from './follow-timeline.ts'
import { endOf } from './live-block.ts'
import { drawing, type Size } from './live-lines.ts'
import { oneLine } from './render.ts'
import { createFrameView } from './show-frames.ts'
import { SAYS_AT, type TaskView, taskBlock, viewOfSummary, viewOfTask } from './task-lines.ts'

/** How long to wait for the last entries of the timeline, which may arrive after the task has ended. */
const LAST_ENTRIES_MS = 500

/** @param first the task as it is now @returns its last state */
export async function watchTask(client: Client, ops: Ops, first: Task, io: Io): Promise<TaskState> {
  // Undefined: the server is not Lull, or the caller may not read it.
  const summary = await ops.task(first.id).catch(() => undefined)
  const lines = byLines(io)
  const frames = createFrameView(lines.io)
  let task: Task | undefined = first
  let seen = summary && viewOfSummary(summary, Date.now())
  let step: TimelineEntry | undefined

  const block = ({ columns }: Size): readonly string[] => {
    // The end of the text changes while it is written.
    const text = endOf(oneLine(lines.rest()), columns - SAYS_AT - 1)
    return taskBlock(seen ?? viewOfTask(task ?? first), step, text, Date.now(), io.paint)
  }

  return drawing(io, block, async (redraw) => {
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
      seeSummaries(ops, first.id, left.signal, (view) => {
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
      await Promise.all([timeline.end(LAST_ENTRIES_MS), summaries])
    }
    return task?.state ?? first.state
  })
}

/** Keeps turn, progress and the clock of a Lull server current. */
async function seeSummaries(
  ops: Ops,
  taskId: string,
  signal: AbortSignal,
  see: (view: TaskView) => void,
): Promise<void> {
  const feed = {
    connected: async () => see(viewOfSummary(await ops.task(taskId), Date.now())),
    async changed({ tasks }: Changes) {
      const found = tasks.find((one) => one.taskId === taskId)
      if (found !== undefined) see(viewOfSummary(found, Date.now()))
    },
    lost: () => undefined,
  }
  await followChanges(ops, feed, signal).catch(() => undefined)
}

/** A longer line is printed in pieces. */
const LONGEST_LINE = 8_192

/** Prints text as whole lines, so that live lines can stand below. The rest of the last line is in `rest`. */
export function byLines(io: Io): { readonly io: Io; rest(): string; end(): void } {
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
