import type { TaskState } from '../../client/task.ts'
import type { Command, Io } from '../command.ts'
import { exitCodeOf } from '../exit-code-of.ts'
import { followTimeline } from '../follow-timeline.ts'
import { urlFlag } from '../remote.ts'
import { createFrameView } from '../show-frames.ts'
import { taskIn } from '../task-id.ts'

export const tasksWatch: Command = {
  name: 'tasks watch',
  args: '<task-id>',
  about: 'Show what happens to a task until it ends, also across a restart of the server',
  flags: urlFlag,
  examples: ['tasks watch @last', 'tasks watch <task-id> --json'],
  async run(input, io) {
    const { client, taskId } = await taskIn(input)
    // The first read is not retried, so that a wrong address or id is reported at once.
    let { state } = await client.get(taskId)
    const json = input.has('json')
    const view = createFrameView(io)
    const timeline = json ? undefined : followTimeline(client.url, taskId, 'latest', io)
    const onLost = (): void => io.warn(io.paint('dim', 'connection lost; waiting for the server'))
    try {
      for await (const frame of client.watch(taskId, { onLost })) {
        if (json) io.print(JSON.stringify(frame))
        else view.frame(frame)
        if (frame.kind === 'task') state = frame.task.state
        if (frame.kind === 'status') state = frame.state
        if (!json)
          io.live(liveLine(state, frame.kind === 'status' ? frame.progress : undefined, io))
      }
    } finally {
      await timeline?.end(LAST_ENTRIES_MS)
    }
    return exitCodeOf(state)
  },
}

const LAST_ENTRIES_MS = 500
const BAR = 20

function liveLine(state: TaskState, fraction: number | undefined, io: Io): string {
  if (fraction === undefined) return io.paint('dim', `… ${state}`)
  const done = Math.round(fraction * BAR)
  return `${'█'.repeat(done)}${'░'.repeat(BAR - done)} ${Math.round(fraction * 100)} %`
}
