/**
 * The default digest: what a turn sees in place of the transcript after a resume with `continueTranscript: false`.
 * At most 2,000 characters, and never empty: a task begins with a message.
 */

import type { Message, Part } from './messages/message.ts'
import type { TranscriptEntry } from './messages/transcript.ts'
import type { LogRecord } from './records.ts'
import type { Task } from './task.ts'
import type { Json } from './values/json.ts'

type StepRecord = LogRecord & { readonly type: 'step' }

/** What the digest needs from the log beyond the folded task. */
export interface DigestLog {
  /** The newest step comes last. */
  readonly steps: readonly StepRecord[]
  /** The last entry that the agent recorded itself. */
  readonly recorded?: TranscriptEntry
}

const LIMIT = 2_000
/** Characters kept free for the steps while the other lines are shortened. */
const ROOM_FOR_STEPS = 800
/** The most characters of one step result. */
const RESULT_LIMIT = 160
/** The most steps that are remembered. More would not fit into the digest. */
const MOST_STEPS = 100

/** Adds the next record of the task's log. */
export function followDigest(seen: DigestLog, record: LogRecord): DigestLog {
  if (record.type === 'step') return { ...seen, steps: [...seen.steps, record].slice(-MOST_STEPS) }
  if (record.type !== 'turn-ended') return seen
  const recorded = record.transcript.findLast(({ role }) => role !== 'user')
  return recorded === undefined ? seen : { ...seen, recorded }
}

export function defaultDigest(task: Task, { steps, recorded }: DigestLog): string {
  const asked = task.history.filter(({ role }) => role === 'ROLE_USER').map(contentOf)
  const said = [...task.history, task.statusMessage].findLast((one) => one?.role === 'ROLE_AGENT')
  const artifacts = task.artifacts.map(({ name, artifactId }) => name ?? artifactId)
  const done = steps.map(stepLine).reverse()
  const before = [
    ...line('Asked', asked[0]),
    ...line('Asked last', asked.length > 1 ? asked.at(-1) : undefined),
    ...line('Said last', said && contentOf(said)),
    ...line('Recorded last', recorded && shortest(recorded.content)),
  ]
  const after = [
    ...line('Artifacts', artifacts.length === 0 ? undefined : artifacts.join(', ')),
    ...line('Stopped', stopOf(task)),
  ]
  const wanted = done.reduce((sum, one) => sum + one.length + 1, 0)
  const others = shareRoom([...before, ...after], LIMIT - Math.min(wanted, ROOM_FOR_STEPS))
  const room = LIMIT - others.reduce((sum, one) => sum + one.length + 1, 0)
  const fitting = firstThatFit(done, room)
  return [...others.slice(0, before.length), ...fitting, ...others.slice(before.length)].join('\n')
}

function line(label: string, text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : [`${label}: ${text}`]
}

/** Renders text parts unchanged, data as compact JSON, and files by name. */
function contentOf({ parts }: Pick<Message, 'parts'>): string {
  return parts.map(partText).join('\n')
}

function partText(part: Part): string {
  if ('text' in part) return part.text
  if ('data' in part) return JSON.stringify(part.data)
  return `[file ${part.filename ?? ('url' in part ? part.url : (part.mediaType ?? 'without a name'))}]`
}

function stepLine({ name, result, failure }: StepRecord): string {
  const label = `Step ${clip(name, RESULT_LIMIT)}`
  if (failure !== undefined)
    return `${label} failed: ${clip(oneLine(failure.message), RESULT_LIMIT)}`
  const value = result === undefined || result === null ? '' : shortest(result)
  return value === '' ? label : `${label}: ${value}`
}

function shortest(value: Json): string {
  return clip(oneLine(typeof value === 'string' ? value : JSON.stringify(value)), RESULT_LIMIT)
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function stopOf({ wake }: Task): string | undefined {
  if (wake === undefined) return undefined
  const { reason, stoppedBy, cause } = wake
  const why = reason === undefined || reason === '' ? '' : `${reason} `
  return `${why}(by ${stoppedBy.kind} ${stoppedBy.id}); resumed by ${cause}`
}

/** Shortens only the longest lines, so that one long message does not push out the others. */
function shareRoom(lines: readonly string[], room: number): readonly string[] {
  let left = room
  const shares = new Map<string, number>()
  const byLength = [...lines].sort((a, b) => a.length - b.length)
  for (const [index, one] of byLength.entries()) {
    const share = Math.floor(left / (byLength.length - index)) - 1
    shares.set(one, Math.min(one.length, share))
    left -= Math.min(one.length, share) + 1
  }
  return lines.map((one) => clip(one, shares.get(one) ?? 0))
}

function firstThatFit(lines: readonly string[], room: number): readonly string[] {
  let left = room
  const fitting: string[] = []
  for (const one of lines) {
    if (one.length > left) break
    fitting.push(one)
    left -= one.length + 1
  }
  return fitting
}

/** At most `limit` UTF-16 units. A surrogate pair is never split. */
function clip(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, Math.max(0, limit - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`
}
