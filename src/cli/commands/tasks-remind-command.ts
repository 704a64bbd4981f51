/** `lull tasks remind`: injects a text as a reminder, lists the pending reminders without a text, or clears them. */
import type { ReminderInput, ReminderSelection } from '../../client/tasks/remind.ts'
import type { PendingReminder } from '../../client/tasks/task-types.ts'
import { pauseModes } from '../../core/suspension.ts'
import { plain } from '../../core/values/printable.ts'
import { type Command, type Input, type Paint, printResult, UsageError } from '../command.ts'
import { readChoice } from '../input/read-input.ts'
import { clientOf, urlFlag } from '../input/server-access.ts'
import { resolveTaskId } from '../input/task-id.ts'
import { countText, oneLine } from '../views/render.ts'

const BODY_WIDTH = 100

export const tasksRemind: Command = {
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
