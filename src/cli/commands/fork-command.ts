import type { Json } from '../../core/values/json.ts'
import { plain } from '../../core/values/printable.ts'
import { type Command, printResult, UsageError } from '../command.ts'
import { urlFlag } from '../input/server-access.ts'
import { readTask } from '../input/task-id.ts'

export const fork: Command = {
  name: 'fork',
  args: '<task-id>',
  about: 'Start a new task from the recorded past of another, at one of its steps',
  flags: {
    at: { value: 'step', about: 'What runs next: a step, park or ask, such as plan or plan#2' },
    input: { value: 'JSON or text', about: 'What the new task gets as the input of its wake' },
    paused: { about: 'Leave the new task paused' },
    key: { value: 'key', about: 'The same key gives the same task, however often it is sent' },
    ...urlFlag,
  },
  examples: [
    'fork <task-id> --at plan',
    'fork @last --at "ship#2" --input \'{"carrier": "rail"}\'',
  ],
  async run(input, io) {
    const at = input.text('at')
    if (at === undefined) throw new UsageError('--at names the step that runs next')
    const { ops, taskId } = await readTask(input)
    const made = await ops.fork(taskId, {
      at,
      input: parseValue(input.text('input')),
      paused: input.has('paused'),
      idempotencyKey: input.text('key'),
    })
    const line = `Task ${plain(made.taskId)}  ${made.state}, forked from ${plain(taskId)}`
    return printResult(input, io, made, [line])
  },
}

/** @returns the JSON, or the text itself when it is not JSON */
function parseValue(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
