/** Pause, resume and cancel: one call each, with the outcome on one line. */
import type { PauseOutcome } from '../../client/tasks/pause-and-resume.ts'
import { pauseModes } from '../../core/suspension.ts'
import { plain } from '../../core/values/printable.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import { type Command, type Paint, printResult } from '../command.ts'
import { readChoice, readJsonFlag } from '../input/read-input.ts'
import { urlFlag } from '../input/server-access.ts'
import { readTask } from '../input/task-id.ts'
import { stateText, stillActs } from '../views/render.ts'

export const tasksPause: Command = {
  name: 'tasks pause',
  args: '<task-id>',
  about: 'Pause a task at its next boundary',
  flags: {
    reason: { value: 'text', about: 'Why; shown with the task' },
    mode: { value: 'mode', about: `How: ${pauseModes.join(', ')}` },
    conditions: { value: 'json', about: 'What wakes it, such as {"onEvent": "deploy.done"}' },
    ...urlFlag,
  },
  examples: [
    'tasks pause <task-id> --reason "waiting for review"',
    `tasks pause <task-id> --conditions '{"timeout": {"durationMinutes": 30}}'`,
  ],
  async run(input, io) {
    const [reason, mode, conditions] = [
      input.text('reason'),
      readChoice(input, 'mode', pauseModes),
      readJsonFlag(input, 'conditions'),
    ]
    const { client, taskId } = await readTask(input)
    const result = await client.pause(taskId, {
      reason,
      mode,
      // The server validates the conditions.
      conditions: conditions as ResumeConditions | undefined,
    })
    return printResult(input, io, result, [pauseLine(result, io.paint)])
  },
}

export const tasksResume: Command = {
  name: 'tasks resume',
  args: '<task-id>',
  about: 'Let a paused or parked task go on',
  flags: {
    handle: { value: 'handle', about: 'Resume this very stop and no later one' },
    input: { value: 'json', about: 'Handed to the agent' },
    fresh: { about: 'Go on with a digest in place of the transcript' },
    ...urlFlag,
  },
  examples: ['tasks resume <task-id>', `tasks resume <task-id> --input '{"approved": true}'`],
  async run(input, io) {
    const [handle, given] = [input.text('handle'), readJsonFlag(input, 'input')]
    const { client, taskId } = await readTask(input)
    const result = await client.resume(taskId, {
      handle,
      input: given,
      continueTranscript: input.has('fresh') ? false : undefined,
    })
    const { state, previousState } = result
    const line = `Task ${plain(taskId)}  ${stateText(state, io.paint)}, was ${previousState}`
    return printResult(input, io, result, [line])
  },
}

export const tasksCancel: Command = {
  name: 'tasks cancel',
  args: '<task-id>',
  about: 'End a task that is not wanted any more',
  flags: urlFlag,
  examples: ['tasks cancel <task-id>'],
  async run(input, io) {
    const { client, taskId } = await readTask(input)
    const task = await client.cancel(taskId)
    const line = `Task ${plain(task.id)}  ${stateText(task.state, io.paint)}`
    return printResult(input, io, task, [line])
  },
}

function pauseLine(result: PauseOutcome, paint: Paint): string {
  if (result.outcome === 'cancelled' || result.outcome === 'detached') {
    return `Task ${plain(result.taskId)}  ${result.outcome}`
  }
  const word = `${stateText(result.state, paint)}${result.outcome === 'pausing' ? ', pausing' : ''}`
  const { mayStillAct } = result
  const acts = mayStillAct === undefined ? '' : `  ${plain(stillActs(mayStillAct))}`
  return `Task ${plain(result.taskId)}  ${word}  ${plain(result.handle)}${acts}`
}
