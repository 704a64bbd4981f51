import {
  buildAnswer,
  type ConsentAnswer,
  type Content,
} from '../../client/tasks/message-content.ts'
import { type Command, type Input, UsageError } from '../command.ts'
import { readJsonFlag } from '../input/read-input.ts'
import { clientOf, urlFlag } from '../input/server-access.ts'
import { resolveTaskId } from '../input/task-id.ts'
import { sendingFlags, showSent } from '../views/show-sent.ts'

export const answer: Command = {
  name: 'answer',
  args: '<task-id> [text]',
  about: 'Answer what a task asks: with a text, with data, or by granting or denying consent',
  flags: {
    data: { value: 'json', about: 'Answer with data in place of a text' },
    grant: { about: 'Grant the consent it asks for' },
    deny: { about: 'Deny it' },
    ...sendingFlags,
    ...urlFlag,
  },
  examples: [
    'answer @last "Squash"',
    'answer <task-id> --grant',
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
  const answers: readonly (Content | ConsentAnswer)[] = [
    ...words,
    ...(data === undefined ? [] : [[{ data }]]),
    ...(input.has('grant') ? [{ consent: 'granted' } as const] : []),
    ...(input.has('deny') ? [{ consent: 'denied' } as const] : []),
  ]
  const [only, ...more] = answers
  if (only === undefined || more.length > 0) {
    throw new UsageError('give one of: a text, --data, --grant, --deny')
  }
  return only
}
