import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Client } from '../../client/client.ts'
import type { Message } from '../../core/messages/message.ts'
import { type Command, type Input, UsageError } from '../command.ts'
import { clientFor } from '../input/server-access.ts'
import { resolveTaskId } from '../input/task-id.ts'
import { sendingFlags, showSent } from '../views/show-sent.ts'

export const send: Command = {
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
