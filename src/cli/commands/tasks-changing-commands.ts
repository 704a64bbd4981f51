/** The commands that change a task: pause, resume, cancel, remind, fork. */

import type { PauseOutcome } from '../../client/tasks/pause-and-resume.ts'
import type { ReminderInput, ReminderSelection } from '../../client/tasks/remind.ts'
import type { PendingReminder } from '../../client/tasks/task-types.ts'
import { pauseModes } from '../../core/suspension.ts'
import type { Json } from '../../core/values/json.ts'
import { plain } from '../../core/values/printable.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import { taskCommand } from '../call-command.ts'
import { type Command, type Input, type Paint, printResult, UsageError } from '../command.ts'
import { readChoice, readJsonFlag } from '../input/read-input.ts'
import { clientOf, urlFlag } from '../input/server-access.ts'
import { readTask, resolveTaskId } from '../input/task-id.ts'
import { countText, oneLine, stateText, stillActs } from '../views/render.ts'

const pause = taskCommand({
  name: 'tasks pause',
  about: 'Pause a task at its next boundary',
  flags: {
    reason: { value: 'text', about: 'Why; shown with the task' },
    mode: { value: 'mode', about: `How: ${pauseModes.join(', ')}` },
    conditions: { value: 'json', about: 'What wakes it, such as {"onEvent": "deploy.done"}' },
  },
  examples: [
    'tasks pause <task-id> --reason "waiting for review"',
    `tasks pause <task-id> --conditions '{"timeout": {"durationMinutes": 30}}'`,
  ],
  options: (input) => ({
    reason: input.text('reason'),
    mode: readChoice(input, 'mode', pauseModes),
    // The server validates the conditions.
    conditions: readJsonFlag(input, 'conditions') as ResumeConditions | undefined,
  }),
  call: ({ client, taskId }, options) => client.pause(taskId, options),
  lines: (result, { paint }) => [pauseLine(result, paint)],
})

const resume = taskCommand({
  name: 'tasks resume',
  about: 'Let a paused or parked task go on',
  flags: {
    handle: { value: 'handle', about: 'Resume this very stop and no later one' },
    input: { value: 'json', about: 'Handed to the agent' },
    fresh: { about: 'Go on with a digest in place of the transcript' },
  },
  examples: ['tasks resume <task-id>', `tasks resume <task-id> --input '{"approved": true}'`],
  options: (input) => ({
    handle: input.text('handle'),
    input: readJsonFlag(input, 'input'),
    continueTranscript: input.has('fresh') ? false : undefined,
  }),
  call: ({ client, taskId }, options) => client.resume(taskId, options),
  lines: ({ state, previousState }, { paint }, taskId) => [
    `Task ${plain(taskId)}  ${stateText(state, paint)}, was ${previousState}`,
  ],
})

const cancel = taskCommand({
  name: 'tasks cancel',
  about: 'End a task that is not wanted any more',
  examples: ['tasks cancel <task-id>'],
  options: () => undefined,
  call: ({ client, taskId }) => client.cancel(taskId),
  lines: ({ id, state }, { paint }) => [`Task ${plain(id)}  ${stateText(state, paint)}`],
})

function pauseLine(result: PauseOutcome, paint: Paint): string {
  if (result.outcome === 'cancelled' || result.outcome === 'detached') {
    return `Task ${plain(result.taskId)}  ${result.outcome}`
  }
  const word = `${stateText(result.state, paint)}${result.outcome === 'pausing' ? ', pausing' : ''}`
  const { mayStillAct } = result
  const acts = mayStillAct === undefined ? '' : `  ${plain(stillActs(mayStillAct))}`
  return `Task ${plain(result.taskId)}  ${word}  ${plain(result.handle)}${acts}`
}

/** Adds a reminder, lists the pending ones when no text is given, or clears them. */
const BODY_WIDTH = 100

const remind: Command = {
  name: 'tasks remind',
  args: '<task-id> [text]',
  about: 'Remind a task of something in its coming turns, show what is pending, or clear it',
  flags: {
    ttl: { value: 'turns', about: 'For so many turns (default until the task ends)' },
    tag: { value: 'text', about: 'A tag; may be given several times' },
    key: { value: 'text', about: 'Takes the place of pending reminders with the same key' },
    id: { value: 'text', about: 'The same id twice is one reminder (default a new one)' },
    mode: { value: 'mode', about: `When: ${pauseModes.join(', ')}` },
    propagate: { value: 'how', about: 'To sub-tasks: session (one level), all, none' },
    role: { value: 'role', about: 'Who speaks: system, developer' },
    source: { value: 'text', about: 'Where it comes from' },
    preserve: { about: 'Keep it when the transcript is compacted' },
    clear: { about: 'Clear what is pending: all, or by --id, --tag or --key' },
    ...urlFlag,
  },
  examples: [
    'tasks remind <task-id> "The upstream PR landed; rebase first." --ttl 2 --key upstream',
    'tasks remind <task-id>',
    'tasks remind <task-id> --clear --key upstream',
  ],
  async run(input, io) {
    const [given, body, ...more] = input.words
    if (given === undefined || more.length > 0) {
      throw new UsageError('give one task id, and the text in quotes')
    }
    const client = clientOf(input)
    const taskId = await resolveTaskId(client, given)
    if (input.has('clear')) {
      if (body !== undefined) throw new UsageError('--clear takes no text')
      const result = await client.clearReminders(taskId, readSelection(input))
      return printResult(input, io, result, [
        `Cleared ${countText(result.clearedCount, 'reminder')}`,
      ])
    }
    if (body === undefined) {
      const reminders = await client.reminders(taskId)
      const lines = reminders.map((one) => reminderLine(one, io.paint))
      const none = ['No reminders are pending']
      return printResult(input, io, { taskId, reminders }, lines.length === 0 ? none : lines)
    }
    const result = await client.remind(taskId, readReminder(input, body))
    if (result.outcome !== 'accepted') throw new Error('the client fell back without being told to')
    const { reminderId, dedupedCount } = result
    const instead = dedupedCount === 0 ? '' : `, in place of ${countText(dedupedCount, 'reminder')}`
    const accepted = `${io.paint('green', 'accepted')}${instead}`
    return printResult(input, io, result, [
      `Reminder ${io.paint('bold', plain(reminderId))}  ${accepted}`,
    ])
  },
}

function readReminder(input: Input, body: string): ReminderInput {
  const [id, dedupeKey, source] = [input.text('id'), input.text('key'), input.text('source')]
  const [ttlTurns, tags] = [readTurns(input), input.texts('tag')]
  const mode = readChoice(input, 'mode', pauseModes)
  const propagate = readChoice(input, 'propagate', ['session', 'all', 'none'] as const)
  const roleHint = readChoice(input, 'role', ['system', 'developer'] as const)
  return {
    body,
    ...(id === undefined ? {} : { id }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
    ...(ttlTurns === undefined ? {} : { ttlTurns }),
    ...(input.has('preserve') ? { preserveOnCompact: true } : {}),
    ...(propagate === undefined ? {} : { propagate }),
    ...(roleHint === undefined ? {} : { roleHint }),
    ...(source === undefined ? {} : { source }),
    ...(mode === undefined ? {} : { mode }),
  }
}

function readSelection(input: Input): ReminderSelection {
  const [id, tag, dedupeKey] = [input.text('id'), input.text('tag'), input.text('key')]
  return {
    ...(id === undefined ? {} : { id }),
    ...(tag === undefined ? {} : { tag }),
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
  }
}

function readTurns(input: Input): number | undefined {
  const text = input.text('ttl')
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError('--ttl takes a number of turns, 1 or more')
}

function reminderLine({ id, body, ttlTurns, tags }: PendingReminder, paint: Paint): string {
  const turns = ttlTurns === undefined ? 'until the end' : countText(ttlTurns, 'turn')
  const marks = tags.length === 0 ? [] : [paint('dim', `[${plain(tags.join(', '))}]`)]
  const text = oneLine(body)
  const shown = text.length > BODY_WIDTH ? `${text.slice(0, BODY_WIDTH - 1)}…` : text
  return [paint('bold', plain(id)), turns, ...marks, shown].join('  ')
}

export const fork: Command = taskCommand({
  name: 'fork',
  about: 'Start a new task from the recorded past of another, at one of its steps',
  flags: {
    at: { value: 'step', about: 'What runs next: a step, park or ask, such as plan or plan#2' },
    input: { value: 'JSON or text', about: 'What the new task gets as the input of its wake' },
    paused: { about: 'Leave the new task paused' },
    key: { value: 'key', about: 'The same key gives the same task, however often it is sent' },
  },
  examples: [
    'fork <task-id> --at plan',
    'fork @last --at "ship#2" --input \'{"carrier": "rail"}\'',
  ],
  options(input) {
    const at = input.text('at')
    if (at === undefined) throw new UsageError('--at names the step that runs next')
    return {
      at,
      input: parseValue(input.text('input')),
      paused: input.has('paused'),
      idempotencyKey: input.text('key'),
    }
  },
  call: ({ ops, taskId }, options) => ops.fork(taskId, options),
  lines: ({ taskId, state }, _io, from) => [
    `Task ${plain(taskId)}  ${state}, forked from ${plain(from)}`,
  ],
})

/** @returns the JSON, or the text itself when it is not JSON */
function parseValue(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

export const tasksChangingCommands: readonly Command[] = [pause, resume, cancel, remind]
