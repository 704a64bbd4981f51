/** `send` and `answer`: send a message and follow its task until the task ends, asks or stops. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Client, SendOptions } from '../../client/client.ts'
import { notA2A } from '../../client/client-error.ts'
import type { TimelineEntry } from '../../client/index.ts'
import {
  buildAnswer,
  type ConsentAnswer,
  type Content,
} from '../../client/tasks/message-content.ts'
import type { Task, TaskFrame } from '../../client/tasks/task-types.ts'
import type { Message } from '../../core/messages/message.ts'
import { isPaused } from '../../core/states.ts'
import { plain } from '../../core/values/printable.ts'
import {
  type Command,
  type ExitCode,
  exitCodeOf,
  exitCodes,
  type Flag,
  type Input,
  type Io,
  UsageError,
} from '../command.ts'
import { readJsonFlag } from '../input/read-input.ts'
import { clientFor, clientOf, urlFlag } from '../input/server-access.ts'
import { resolveTaskId } from '../input/task-id.ts'
import { followTimeline, printEntry, type Timeline } from '../views/follow.ts'
import { messageText, stateText, statusText, taskLines } from '../views/render.ts'
import { saveArtifacts } from '../views/save-artifacts.ts'
import { createFrameView } from '../views/show-frames.ts'

/** The flags of every command that sends a message. */
const sendingFlags: Readonly<Record<string, Flag>> = {
  stream: { about: 'Show everything as it happens, also while the task is stopped' },
  detach: { about: 'Do not wait: show the task as soon as it exists' },
  save: { value: 'directory', about: 'Write the artifacts into this directory' },
}

const send: Command = {
  name: 'send',
  args: '<url> <text>',
  about: 'Send a message to an agent and show what comes of it',
  flags: {
    file: { value: 'path', about: 'Take the text from a file; - is stdin' },
    context: { value: 'id', about: 'The conversation it belongs to' },
    task: { value: 'id', about: 'The task it answers or continues' },
    reference: { value: 'task id', about: 'A task it refers to; may be given several times' },
    ...sendingFlags,
  },
  examples: [
    'send http://127.0.0.1:8787 "Hello"',
    'send http://127.0.0.1:8787/agents/painter "Paint a lighthouse" --save ./pictures',
    'send http://127.0.0.1:8787 "Yes, I consent" --task <task-id>',
  ],
  async run(input, io) {
    const [url, ...words] = input.words
    if (url === undefined) throw new UsageError('give the address of an agent and a text')
    const client = clientFor(url)
    return showSent(client, await readMessage(client, input, words), input, io)
  },
}

async function readMessage(
  client: Client,
  input: Input,
  words: readonly string[],
): Promise<Message> {
  const file = input.text('file')
  if ((file === undefined) === (words.length === 0)) {
    throw new UsageError('give a text, or --file')
  }
  if (words.length > 1) throw new UsageError('put the text into quotes')
  const contextId = input.text('context')
  const named = input.text('task')
  const taskId = named === undefined ? undefined : await resolveTaskId(client, named)
  const referenceTaskIds = await Promise.all(
    input.texts('reference').map((given) => resolveTaskId(client, given)),
  )
  return {
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: [{ text: words[0] ?? readText(file ?? '') }],
    ...(contextId === undefined ? {} : { contextId }),
    ...(taskId === undefined ? {} : { taskId }),
    ...(referenceTaskIds.length === 0 ? {} : { referenceTaskIds }),
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (cause) {
    throw new UsageError(`${file} cannot be read`, { cause })
  }
}

const answer: Command = {
  name: 'answer',
  args: '<task-id> [text]',
  about: 'Answer what a task asks: with a text, with data, or by granting or denying consent',
  flags: {
    data: { value: 'json', about: 'Answer with data in place of a text' },
    grant: { about: 'Grant the consent it asks for' },
    deny: { about: 'Deny it' },
    comment: { value: 'text', about: 'With --grant or --deny: what the agent is told beside it' },
    edit: {
      value: 'json',
      about: 'With --grant: the operation to grant instead, where it may be edited',
    },
    ...sendingFlags,
    ...urlFlag,
  },
  examples: [
    'answer @last "Squash"',
    'answer <task-id> --grant',
    'answer <task-id> --deny --comment "Not on a Friday"',
    `answer <task-id> --data '{"size": 3}'`,
  ],
  async run(input, io) {
    const [given, ...words] = input.words
    if (given === undefined) throw new UsageError('give a task id')
    const content = readContent(input, words)
    const client = clientOf(input)
    const task = await client.get(await resolveTaskId(client, given), { historyLength: 0 })
    return showSent(client, buildAnswer(task, content), input, io)
  },
}

function readContent(input: Input, words: readonly string[]): Content | ConsentAnswer {
  if (words.length > 1) throw new UsageError('put the text into quotes')
  const data = readJsonFlag(input, 'data')
  const [comment, operation] = [input.text('comment'), readJsonFlag(input, 'edit')]
  const decides = input.has('grant') || input.has('deny')
  if (comment !== undefined && !decides) throw new UsageError('--comment needs --grant or --deny')
  if (operation !== undefined && !input.has('grant')) throw new UsageError('--edit needs --grant')
  const answers: readonly (Content | ConsentAnswer)[] = [
    ...words,
    ...(data === undefined ? [] : [[{ data }]]),
    ...(input.has('grant') ? [{ consent: 'granted', comment, operation } as const] : []),
    ...(input.has('deny') ? [{ consent: 'denied', comment } as const] : []),
  ]
  const [only, ...more] = answers
  if (only === undefined || more.length > 0) {
    throw new UsageError('give one of: a text, --data, --grant, --deny')
  }
  return only
}

async function showSent(
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
  saveArtifacts(task.artifacts, input, io)
  return input.has('detach') ? exitCodes.ok : exitCodeOf(task.state)
}

/** Ctrl-C ends the command, not the task. */
function goodbye(taskId: string | undefined, { self }: Io): string {
  if (taskId === undefined) return 'Interrupted before the server answered; it may have a task.'
  const id = plain(taskId)
  return `Task ${id} goes on. To see it: ${self} tasks watch ${id}`
}

export const sendingCommands: readonly Command[] = [send, answer]
