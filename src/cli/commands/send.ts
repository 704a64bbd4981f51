import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { A2AClient, TaskFrame } from '../../client/a2a-client.ts'
import { UnreachableError } from '../../client/client-error.ts'
import { follow } from '../../client/follow.ts'
import { stateOf } from '../../client/wire-task.ts'
import type { Message } from '../../core/message.ts'
import { isInterrupted, isPaused, isTerminal, type State } from '../../core/states.ts'
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
async function show(client: A2AClient, message: Message, input: Input, io: Io): Promise<ExitCode> {
  const [streaming, json] = [input.has('stream'), input.has('json')]
  const abort = new AbortController()
  let taskId: string | undefined
  for await (const { frame } of steady(client, message, abort.signal)) {
    if (streaming) {
      const line = json ? JSON.stringify(frame) : frameLine(frame, io.paint)
      if (line !== undefined && line !== '') io.print(line)
    }
    if (frame.message !== undefined) {
      if (!streaming) io.print(json ? JSON.stringify(frame) : messageText(frame.message))
      return exitCodes.ok
    }
    taskId ??= frame.task?.id
    const of = frame.task ?? frame.statusUpdate
    if (of === undefined) continue
    const state = stateOf(of) as State
    io.live(`${stateText(state, io.paint)} ${messageText(of.status.message)}`)
    if (input.has('detach')) break
    // A stopped task goes on by itself some day; only who streams waits for that.
    if (isTerminal(state) || isInterrupted(state) || (isPaused(state) && !streaming)) break
  }
  abort.abort()
  if (taskId === undefined) throw new UnreachableError(`${client.url} ended without an answer`)
  return showTask(client, taskId, input, io)
}

async function showTask(
  client: A2AClient,
  taskId: string,
  input: Input,
  io: Io,
): Promise<ExitCode> {
  const task = await client.get(taskId)
  if (input.has('json')) {
    if (!input.has('stream')) io.print(JSON.stringify({ task }))
  } else if (!input.has('stream')) {
    for (const line of taskLines(task, io.paint)) io.print(line)
    io.print(`  context  ${task.contextId}`)
  }
  const directory = input.text('save')
  if (directory !== undefined) {
    for (const path of saveArtifacts(task.artifacts ?? [], directory)) io.warn(`wrote ${path}`)
  }
  return exitCodes.ok
}

/** The stream of a send; should it break, the task is followed from where it was. */
async function* steady(
  client: A2AClient,
  message: Message,
  signal: AbortSignal,
): AsyncGenerator<TaskFrame, void> {
  let after: string | undefined
  let taskId: string | undefined
  try {
    for await (const next of client.stream(message, { signal })) {
      taskId ??= next.frame.task?.id
      after = next.id
      yield next
    }
    return
  } catch (error) {
    if (!(error instanceof UnreachableError) || taskId === undefined) throw error
  }
  yield* follow(client, taskId, { after, signal })
}
