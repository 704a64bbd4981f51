import { type Command, exitCodes, type Io } from '../command.ts'
import { clientOf, taskIdIn, urlFlag } from '../remote.ts'
import { frameLine } from '../render.ts'

export const tasksWatch: Command = {
  name: 'tasks watch',
  args: '<task-id>',
  about: 'Show what happens to a task until it ends, also across a restart of the server',
  flags: urlFlag,
  examples: ['tasks watch <task-id>', 'tasks watch <task-id> --json'],
  async run(input, io) {
    const client = clientOf(input)
    const taskId = taskIdIn(input)
    // The first look is not retried: a wrong address or id should say so at once.
    await client.get(taskId)
    const onLost = (): void => io.warn(io.paint('dim', 'connection lost; waiting for the server'))
    for await (const frame of client.watch(taskId, { onLost })) {
      const line = input.has('json') ? JSON.stringify(frame) : frameLine(frame, io.paint)
      if (line !== undefined && line !== '') io.print(line)
      if (input.has('json')) continue
      if (frame.kind === 'task') io.live(liveLine(frame.task.state, undefined, io))
      if (frame.kind === 'status') io.live(liveLine(frame.state, frame.progress, io))
    }
    return exitCodes.ok
  },
}

const BAR = 20

function liveLine(state: string, fraction: number | undefined, io: Io): string {
  if (fraction === undefined) return io.paint('dim', `… ${state}`)
  const done = Math.round(fraction * BAR)
  return `${'█'.repeat(done)}${'░'.repeat(BAR - done)} ${Math.round(fraction * 100)} %`
}
