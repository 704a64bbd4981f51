import { type Command, exitCodes } from '../command.ts'
import { urlFlag } from '../input/server-access.ts'
import { readTask } from '../input/task-id.ts'
import { messageText, taskLines } from '../views/render.ts'
import { saveArtifacts } from '../views/save-artifacts.ts'

export const tasksShow: Command = {
  name: 'tasks show',
  args: '<task-id>',
  about: 'Show a task: its state, what it waits for, what was said, what it made',
  flags: {
    save: { value: 'directory', about: 'Write the artifacts into this directory' },
    ...urlFlag,
  },
  examples: ['tasks show <task-id>', 'tasks show <task-id> --save ./artifacts'],
  async run(input, io) {
    const { client, taskId } = await readTask(input)
    const task = await client.get(taskId)
    if (input.has('json')) {
      io.print(JSON.stringify(task))
    } else {
      for (const line of taskLines(task, io.paint)) io.print(line)
      io.print(`  context  ${task.contextId}`)
      if (task.status.timestamp !== undefined) io.print(`  since    ${task.status.timestamp}`)
      for (const message of task.history) {
        const who = message.role === 'ROLE_USER' ? 'user' : 'agent'
        io.print(`  ${io.paint('dim', who.padEnd(8))} ${messageText(message)}`)
      }
    }
    const directory = input.text('save')
    if (directory !== undefined) {
      for (const path of saveArtifacts(task.artifacts, directory)) io.warn(`wrote ${path}`)
    }
    return exitCodes.ok
  },
}
