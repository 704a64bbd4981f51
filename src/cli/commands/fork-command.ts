import { createOps } from '../../client/ops-client.ts'
import type { Json } from '../../core/json.ts'
import { plain } from '../../core/printable.ts'
import { type Command, exitCodes, UsageError } from '../command.ts'
import { opsOptions, urlFlag } from '../input/server-access.ts'
import { taskIn } from '../input/task-id.ts'

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
    const { client, taskId } = await taskIn(input)
    const made = await createOps(opsOptions(client.url)).fork(taskId, {
      at,
      input: valueIn(input.text('input')),
      paused: input.has('paused'),
      idempotencyKey: input.text('key'),
    })
    if (input.has('json')) io.print(JSON.stringify(made))
    else io.print(`Task ${plain(made.taskId)}  ${made.state}, forked from ${plain(taskId)}`)
    return exitCodes.ok
  },
}

/** JSON, or else the text as it is. */
function valueIn(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
