/** Sends a message, follows its task until the task ends, asks or stops, and then shows the whole task. */
import type { Client, SendOptions } from '../../client/client.ts'
import { notA2A } from '../../client/client-error.ts'
import type { TimelineEntry } from '../../client/index.ts'
import type { Task, TaskFrame } from '../../client/tasks/task-types.ts'
import type { Message } from '../../core/messages/message.ts'
import { isPaused } from '../../core/states.ts'
import { plain } from '../../core/values/printable.ts'
import { type ExitCode, exitCodeOf, exitCodes, type Flag, type Input, type Io } from '../command.ts'
import { followTimeline, printEntry, type Timeline } from './follow-timeline.ts'
import { messageText, stateText, statusText, taskLines } from './render.ts'
import { saveArtifacts } from './save-artifacts.ts'
import { createFrameView } from './show-frames.ts'

/** The flags of every command that sends a message. */
export const sendingFlags: Readonly<Record<string, Flag>> = {
  stream: { about: 'Show everything as it happens, also while the task is stopped' },
  detach: { about: 'Do not wait: show the task as soon as it exists' },
  save: { value: 'directory', about: 'Write the artifacts into this directory' },
}

export async function showSent(
  client: Client,
  message: Message,
  input: Input,
  io: Io,
  options: SendOptions = {},
): Promise<ExitCode> {
  const [streaming, json] = [input.has('stream'), input.has('json')]
  const view = createFrameView(io)
  const print = (entry: TimelineEntry): void => printEntry(entry, io)
  let taskId = message.taskId
  let timeline: Timeline | undefined
  const forget = io.interrupted(() => goodbye(taskId, io))
  try {
    for await (const frame of client.stream(message, options)) {
      if (frame.kind === 'task' && taskId === undefined) taskId = frame.task.id
      if (streaming && json) io.print(JSON.stringify(frame))
      else if (streaming) {
        view.frame(frame)
        const after = message.taskId === undefined ? 0 : 'latest'
        if (taskId !== undefined) timeline ??= followTimeline(client.url, taskId, after, print)
      }
      if (frame.kind === 'message') return showMessage(frame.message, input, io)
      if (isEnough(frame, input, io)) break
    }
  } finally {
    forget()
    await timeline?.end()
  }
  if (taskId === undefined) throw notA2A('the stream ended without a task')
  return showTask(await client.get(taskId), input, io)
}

/** Whether the frame shows the state that the command waits for. */
function isEnough(frame: TaskFrame, input: Input, io: Io): boolean {
  if (frame.kind !== 'task' && frame.kind !== 'status') return false
  const current = frame.kind === 'task' ? frame.task : frame
  const { state } = current
  io.live([`${stateText(state, io.paint)} ${statusText(current)}`])
  if (input.has('detach')) return true
  // A paused task may stay paused for long. Only `--stream` waits until it goes on.
  return state !== 'unknown' && isPaused(state) && !input.has('stream')
}

function showMessage(message: Message, input: Input, io: Io): ExitCode {
  if (input.has('stream')) return exitCodes.ok
  io.print(input.has('json') ? JSON.stringify({ message }) : messageText(message))
  return exitCodes.ok
}

function showTask(task: Task, input: Input, io: Io): ExitCode {
  if (!input.has('stream')) {
    if (input.has('json')) io.print(JSON.stringify({ task }))
    else {
      for (const line of taskLines(task, io.paint)) io.print(line)
      io.print(`  context  ${plain(task.contextId)}`)
    }
  }
  const directory = input.text('save')
  if (directory !== undefined) {
    for (const path of saveArtifacts(task.artifacts, directory)) io.warn(`wrote ${path}`)
  }
  return input.has('detach') ? exitCodes.ok : exitCodeOf(task.state)
}

/** Ctrl-C ends the command, not the task. */
function goodbye(taskId: string | undefined, { self }: Io): string {
  if (taskId === undefined) return 'Interrupted before the server answered; it may have a task.'
  const id = plain(taskId)
  return `Task ${id} goes on. To see it: ${self} tasks watch ${id}`
}
