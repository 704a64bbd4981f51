/** Renders tasks, messages and artifacts as text for a terminal. */
import type { ReminderChange, StatusFrame, Task } from '../../client/tasks/task-types.ts'
import { type Artifact, type Message, type Part, textOf } from '../../core/messages/message.ts'
import { type Choice, questionIn, withoutQuestionPart } from '../../core/messages/question-part.ts'
import { withoutResult } from '../../core/messages/result-artifact.ts'
import { plain } from '../../core/values/printable.ts'
import { waitText } from '../../core/waiting/wait-text.ts'
import type { Colour, Paint } from '../command.ts'

const colourOf: Readonly<Record<string, Colour>> = {
  completed: 'green',
  failed: 'red',
  rejected: 'red',
  canceled: 'dim',
  working: 'cyan',
  submitted: 'cyan',
}

/** States in which a task waits are yellow. */
export function stateText(state: string, paint: Paint): string {
  return paint(colourOf[state] ?? 'yellow', oneLine(state))
}

/** Puts a text from a server on one row: each run of white space becomes one space. */
export function oneLine(text: string): string {
  return plain(text.replace(/\s+/g, ' '))
}

export function messageText(message: Message | undefined): string {
  if (message === undefined) return ''
  const data = withoutQuestionPart(message.parts).flatMap((part) =>
    'data' in part ? [JSON.stringify(part.data)] : [],
  )
  const texts = [textOf(message), ...data, ...questionTexts(message)]
  return plain(texts.filter((text) => text !== '').join('\n'))
}

/** For people: which answers the question accepts. */
function questionTexts({ parts }: Message): readonly string[] {
  const { choices, schema } = questionIn(parts) ?? {}
  return [
    ...(choices === undefined ? [] : [`(one of: ${choices.map(choiceText).join(', ')})`]),
    ...(schema === undefined ? [] : [`(answer with JSON: ${JSON.stringify(schema)})`]),
  ]
}

function choiceText({ value, label }: Choice): string {
  return label === undefined ? value : `${value} = ${label}`
}

type TaskOrStatus = Task | StatusFrame

/** On one line: the last message of the agent, or else the reason of the stop. */
export function statusText({
  status,
  suspension,
}: Pick<TaskOrStatus, 'status' | 'suspension'>): string {
  const why = [suspension?.reason, suspension?.summary].filter((text) => text !== undefined)
  const isStopped = suspension !== undefined && !suspension.pausing
  const text = messageText(status.message) || (isStopped ? plain(why.join(' ')) : '')
  return oneLine(text)
}

/** One line: the state of the task and its text. */
export function statusLine(current: TaskOrStatus, paint: Paint): string {
  const { state, suspension } = current
  const text = statusText(current)
  const word = `${stateText(state, paint)}${suspension?.pausing === true ? ', pausing' : ''}`
  return [word, text].filter((part) => part !== '').join('  ')
}

export function artifactLine(artifact: Artifact, paint: Paint): string {
  const { name, artifactId, description } = artifact
  const summary = artifact.parts.map(partSummary).join(', ')
  const words = [paint('bold', plain(name ?? artifactId)), paint('dim', `(${summary})`)]
  if (description !== undefined) words.push(plain(description))
  return words.join('  ')
}

function partSummary(part: Part): string {
  const type = plain(part.mediaType ?? ('text' in part ? 'text' : 'data' in part ? 'JSON' : 'file'))
  if ('raw' in part) return `${type}, ${size(Math.floor((part.raw.length * 3) / 4))}`
  if ('text' in part) return `${type}, ${size(Buffer.byteLength(part.text))}`
  return 'url' in part ? plain(part.url) : type
}

function size(bytes: number): string {
  return bytes < 1_024 ? `${bytes} bytes` : `${(bytes / 1_024).toFixed(1)} KiB`
}

/** A task on a few lines: its state, its wake conditions, its artifacts. */
export function taskLines(task: Task, paint: Paint): readonly string[] {
  const artifacts = withoutResult(task.artifacts, task.status.message)
  return [
    `Task ${paint('bold', plain(task.id))}  ${statusLine(task, paint)}`,
    ...stopLines(task),
    ...artifacts.flatMap((artifact) => artifactLines(artifact, paint)),
  ]
}

/** The name, types and sizes of an artifact, and the text of its text parts. */
function artifactLines(artifact: Artifact, paint: Paint): readonly string[] {
  const text = artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')
  const lines =
    text === ''
      ? []
      : plain(text)
          .split('\n')
          .map((line) => `    ${line}`)
  return [`  ${artifactLine(artifact, paint)}`, ...lines]
}

/** What a waiting task waits for: a consent, or the conditions of its suspension. */
function stopLines({ consent, suspension }: Task): readonly string[] {
  if (consent !== undefined) {
    const { operation } = consent
    return operation === undefined ? [] : [`  for      ${plain(JSON.stringify(operation))}`]
  }
  if (suspension === undefined || suspension.pausing) return []
  const { handle, conditions, deadlineAt, mayStillAct } = suspension
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['handle', handle],
    ['wakes', waitText(conditions, deadlineAt, Date.now())],
    ['deadline', deadlineAt],
    ['acts', mayStillAct && stillActs(mayStillAct)],
  ]
  return rows.flatMap(([word, value]) =>
    value === undefined ? [] : [`  ${word.padEnd(8)} ${plain(value)}`],
  )
}

/** For people: which steps did not stop. */
export function stillActs(steps: readonly string[]): string {
  return `did not stop and may still act: ${steps.join(', ')}`
}

export function reminderLine(change: ReminderChange): string {
  if (change.event === 'emitted') return `reminder  ${plain(change.reminder.body)}`
  if (change.event === 'expired') {
    return `reminder  ${plain(change.reminderId)}: expired (${change.reason})`
  }
  const displaced = change.displaced.map(plain).join(', ')
  return `reminder  ${displaced}: displaced by ${plain(change.by)}`
}

/** The age of a timestamp, in the largest unit that fits. */
export function ageText(timestamp: string | undefined, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(timestamp ?? '')) / 1_000))
  if (Number.isNaN(seconds)) return ''
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`
}

/** A number and its word, such as `1 task` or `2 tasks`. */
export function countText(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
