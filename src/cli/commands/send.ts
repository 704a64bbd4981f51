import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Client } from '../../client/client.ts'
import { notA2A } from '../../client/client-error.ts'
import type { Message } from '../../core/message.ts'
import { isPaused } from '../../core/states.ts'
import {
  type Command,
  type ExitCode,
  exitCodes,
  type Input,
  type Io,
  UsageError,
} from '../command.ts'
import { clientFor } from '../remote.ts'
import { frameLine, messageText, stateText, taskLines } from '../render.ts'
import { saveArtifacts } from '../save-artifacts.ts'

export const send: Command = {
  name: 'send',
  args: '<url> <text>',
  about: 'Send a message to an agent and show what comes of it',
  flags: {
    file: { value: 'path', about: 'Take the text from a file; - is stdin' },
    stream: { about: 'Show everything that happens, also while the task is stopped' },
    detach: { about: 'Do not wait: show the task as soon as it exists' },
    context: { value: 'id', about: 'The conversation it belongs to' },
    task: { value: 'id', about: 'The task it answers or continues' },
    reference: { value: 'task id', about: 'A task it refers to; may be given several times' },
    save: { value: 'directory', about: 'Write the artifacts into this directory' },
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
    return show(client, messageFrom(input, words), input, io)
  },
}

function messageFrom(input: Input, words: readonly string[]): Message {
  const file = input.text('file')
  if ((file === undefined) === (words.length === 0)) {
    throw new UsageError('give a text, or --file')
  }
  if (words.length > 1) throw new UsageError('put the text into quotes')
  const [contextId, taskId] = [input.text('context'), input.text('task')]
  const referenceTaskIds = input.texts('reference')
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

/** Follows the stream until the task ends or stops; then shows it whole. */
async function show(client: Client, message: Message, input: Input, io: Io): Promise<ExitCode> {
  const [streaming, json] = [input.has('stream'), input.has('json')]
  let taskId: string | undefined
  for await (const frame of client.stream(message)) {
    if (streaming) {
      const line = json ? JSON.stringify(frame) : frameLine(frame, io.paint)
      if (line !== undefined && line !== '') io.print(line)
    }
    if (frame.kind === 'message') {
      const { message } = frame
      if (!streaming) io.print(json ? JSON.stringify({ message }) : messageText(message))
      return exitCodes.ok
    }
    if (frame.kind === 'task') taskId ??= frame.task.id
    if (frame.kind !== 'task' && frame.kind !== 'status') continue
    const { state, status } = frame.kind === 'task' ? frame.task : frame
    io.live(`${stateText(state, io.paint)} ${messageText(status.message)}`)
    if (input.has('detach')) break
    // A stopped task goes on by itself some day; only who streams waits for that.
    if (state !== 'unknown' && isPaused(state) && !streaming) break
  }
  if (taskId === undefined) throw notA2A('the stream ended without a task')
  return showTask(client, taskId, input, io)
}

async function showTask(client: Client, taskId: string, input: Input, io: Io): Promise<ExitCode> {
  const task = await client.get(taskId)
  if (input.has('json')) {
    if (!input.has('stream')) io.print(JSON.stringify({ task }))
  } else if (!input.has('stream')) {
    for (const line of taskLines(task, io.paint)) io.print(line)
    io.print(`  context  ${task.contextId}`)
  }
  const directory = input.text('save')
  if (directory !== undefined) {
    for (const path of saveArtifacts(task.artifacts, directory)) io.warn(`wrote ${path}`)
  }
  return exitCodes.ok
}
