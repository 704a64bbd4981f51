import { plain } from '../../core/values/printable.ts'
import { type Command, exitCodeOf, exitCodes, type Input, type Io } from '../command.ts'
import { opsFor, serverUrl, urlFlag } from '../input/server-access.ts'
import { readTask } from '../input/task-id.ts'
import { watchOpenTasks } from '../views/watch-open-tasks.ts'
import { watchTask } from '../views/watch-task.ts'

export const tasksWatch: Command = {
  name: 'tasks watch',
  args: '[task-id]',
  about: 'Show live what happens to a task, or to all open tasks, also across a restart',
  flags: urlFlag,
  examples: ['tasks watch', 'tasks watch @last', 'tasks watch <task-id> --json'],
  async run(input, io) {
    return input.words.length === 0 ? watchAll(input, io) : watchOne(input, io)
  },
}

async function watchAll(input: Input, io: Io) {
  const url = serverUrl(input)
  const agent = /\/agents\/([^/]+)\/?$/.exec(url)?.[1]
  const forget = io.interrupted(() => 'The tasks go on.')
  try {
    await watchOpenTasks({ ops: opsFor(url), agent }, input.has('json'), io)
    return exitCodes.ok
  } finally {
    forget()
  }
}

async function watchOne(input: Input, io: Io) {
  const { client, ops, taskId } = await readTask(input)
  // The first read is not retried, so that a wrong address or id is reported at once.
  const first = await client.get(taskId)
  const forget = io.interrupted(() => `Task ${plain(taskId)} goes on.`)
  try {
    if (!input.has('json')) return exitCodeOf(await watchTask(client, ops, first, io))
    let { state } = first
    const onLost = (): void => io.warn('connection lost; waiting for the server')
    for await (const frame of client.watch(taskId, { onLost })) {
      io.print(JSON.stringify(frame))
      if (frame.kind === 'task') state = frame.task.state
      if (frame.kind === 'status') state = frame.state
    }
    return exitCodeOf(state)
  } finally {
    forget()
  }
}
