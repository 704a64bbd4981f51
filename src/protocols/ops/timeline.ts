/**
 * `GET /ops/tasks/{id}/timeline`: the visible records of a task's log as entries, oldest first. As `text/event-stream`
 * the timeline continues live until the task has ended. `after` continues after an entry.
 */

import { z } from 'zod'
import { type Message, textOf } from '../../core/messages/message.ts'
import type { LogRecord, RecordType } from '../../core/records.ts'
import type { Actor } from '../../core/suspension.ts'
import { toIso } from '../../core/values/instant.ts'
import type { Json } from '../../core/values/json.ts'
import { oneOf } from '../../engine/input/exhaustive.ts'
import { describeKeys } from '../../engine/run/replay/keys.ts'
import type { TaskReader } from '../../engine/streams/log-reader.ts'
import type {
  ShownContent,
  TimelineEntry,
  TimelineKind,
  TimelinePage,
} from '../../wire/ops/tasks.ts'
import { shownContent } from './shown-content.ts'

type Facts = Omit<TimelineEntry, 'seq' | 'at' | 'event' | 'by'>
type Describe<T extends RecordType> = (
  record: LogRecord & { readonly type: T },
) => Facts | undefined

/** A position in a timeline, or its end. */
export const timelinePosition: z.ZodType<string | undefined> = z
  .string()
  .regex(/^(?:latest|\d{1,15})$/)
  .optional()

const content: z.ZodType<ShownContent> = z.object({ json: z.string(), isCut: z.boolean() })

export const timelineEntry: z.ZodType<TimelineEntry> = z.object({
  seq: z.number(),
  at: z.iso.datetime(),
  kind: oneOf<TimelineKind>({
    task: true,
    turn: true,
    step: true,
    tool: true,
    output: true,
    message: true,
    question: true,
    stop: true,
    wake: true,
    hold: true,
    child: true,
    reminder: true,
    usage: true,
  }),
  event: z.string(),
  name: z.string().optional(),
  turn: z.number().optional(),
  attempt: z.number().optional(),
  outcome: z.enum(['done', 'failed', 'interrupted', 'skipped', 'abandoned']).optional(),
  text: z.string().optional(),
  costUsd: z.number().optional(),
  tokens: z.number().optional(),
  by: z.object({ kind: z.string(), id: z.string() }).optional(),
  input: content.optional(),
  result: content.optional(),
})

const LONGEST = 400
const PAGE = 500
const hidden = (): undefined => undefined

/** Total: a new record type does not compile until it has a row here. */
const describe: { readonly [T in RecordType]: Describe<T> } = {
  submitted: ({ message, input }) => ({
    kind: 'task',
    text: said(message),
    ...contentOf('input', input),
  }),
  started: ({ deaths }) => ({ kind: 'task', ...(deaths > 0 ? { text: 'taken over' } : {}) }),
  released: ({ reason }) => ({ kind: 'task', text: reason }),
  completed: ({ message }) => ({ kind: 'task', outcome: 'done', text: said(message) }),
  failed: ({ message }) => ({ kind: 'task', outcome: 'failed', text: said(message) }),
  rejected: ({ message }) => ({ kind: 'task', outcome: 'failed', text: said(message) }),
  canceled: ({ reason }) => ({
    kind: 'task',
    outcome: 'failed',
    ...(reason ? { text: reason } : {}),
  }),
  continued: () => ({ kind: 'task', text: 'continued with a new journal' }),

  'turn-started': ({ turn }) => ({ kind: 'turn', turn }),
  'turn-ended': ({ turn, outcome = 'completed' }) => ({
    kind: 'turn',
    turn,
    outcome: outcome === 'completed' ? 'done' : outcome,
  }),
  compacted: () => ({ kind: 'turn', text: 'transcript compacted' }),

  step: ({ key, name, attempt, failure, result }) => ({
    kind: kindOf(key),
    name,
    attempt,
    outcome: failure === undefined ? 'done' : 'failed',
    ...(failure === undefined ? {} : { text: failure.message }),
    ...contentOf('result', result),
  }),
  attempt: ({ key, attempt, outcome, failure }) => ({
    kind: kindOf(key),
    name: nameIn(key),
    attempt,
    outcome,
    ...(failure === undefined ? {} : { text: failure.message }),
  }),
  abandoned: ({ key, name, attempt, settled }) => ({
    kind: kindOf(key),
    name,
    attempt,
    outcome: 'abandoned',
    text: settled ? 'it has ended since' : 'it did not stop when it was told to, and may still act',
  }),
  'not-awaited': ({ operations, count }) => ({
    kind: 'task',
    text: `the run ended while nobody awaited ${describeKeys(operations, count)}`,
  }),
  skipped: ({ name }) => ({ kind: 'tool', name, outcome: 'skipped' }),
  value: hidden,
  voided: ({ key }) => ({ kind: 'task', text: `accepted changed code at ${key}` }),

  said: ({ message, progress }) => ({
    kind: 'output',
    text: said(message) || `${Math.round((progress ?? 0) * 100)} %`,
  }),
  artifact: ({ artifact, append }) =>
    append ? undefined : { kind: 'output', name: artifact.name ?? artifact.artifactId },
  usage: ({ usage: { inputTokens = 0, outputTokens = 0, costUsd } }) => ({
    kind: 'usage',
    tokens: inputTokens + outputTokens,
    ...(costUsd === undefined ? {} : { costUsd }),
  }),

  message: ({ message }) => ({ kind: 'message', text: said(message) }),
  asked: ({ question }) => ({ kind: 'question', text: said(question.message) }),
  'asked-again': ({ answer }) => ({ kind: 'question', text: said(answer) }),
  answered: ({ message, decision }) => ({ kind: 'question', text: decision ?? said(message) }),

  'pause-requested': ({ suspension: { reason } }) => ({
    kind: 'stop',
    ...(reason ? { text: reason } : {}),
  }),
  'pause-upgraded': ({ mode }) => ({ kind: 'stop', text: mode }),
  'pause-kept': ({ reason }) => ({ kind: 'stop', ...(reason ? { text: reason } : {}) }),
  'pause-withdrawn': ({ cause }) => ({ kind: 'wake', text: cause }),
  paused: () => ({ kind: 'stop' }),
  parked: ({ suspension: { reason } }) => ({ kind: 'stop', ...(reason ? { text: reason } : {}) }),
  resumed: ({ cause, input, event }) => ({
    kind: 'wake',
    text: cause,
    ...contentOf('input', input ?? (event as Json | undefined)),
  }),
  deferred: ({ deferred }) => ({ kind: 'hold', text: `kept for later: ${deferred.kind}` }),
  held: ({ reason }) => ({ kind: 'hold', text: reason }),
  lifted: () => ({ kind: 'hold' }),

  delegated: ({ agent, input }) => ({ kind: 'child', name: agent, ...contentOf('input', input) }),
  'child-ended': ({ result }) => ({
    kind: 'child',
    outcome: result.state === 'completed' ? 'done' : 'failed',
    text: `${result.taskId} ${result.state}`,
  }),
  'child-called': ({ call, failure }) => ({
    kind: 'child',
    name: call,
    outcome: failure === undefined ? 'done' : 'failed',
  }),

  'reminder-injected': ({ reminder }) => ({ kind: 'reminder', text: reminder.body }),
  'reminder-deduped': hidden,
  'reminder-expired': hidden,
  'reminders-shown': hidden,
  receipt: hidden,
  forked: ({ from }) => ({ kind: 'task', text: `forked from task ${from}` }),
  imported: ({ exportedAt }) => ({ kind: 'task', text: `exported ${toIso(exportedAt)}` }),
}

export function timelineOf(records: readonly LogRecord[]): readonly TimelineEntry[] {
  return records.flatMap((record) => {
    try {
      return entryOf(record)
    } catch {
      // Older versions imported logs with any content. One such record does not take the others with it.
      const { seq, type: event } = record
      return [{ seq, at: toIso(0), event, kind: 'task', text: 'This record cannot be shown' }]
    }
  })
}

function entryOf(record: LogRecord): readonly TimelineEntry[] {
  const facts = (describe[record.type] as Describe<RecordType>)(record)
  if (facts === undefined) return []
  const { text, ...rest } = facts
  const shown = text === undefined || text === '' ? {} : { text: short(text) }
  const by = actorIn(record)
  return [
    {
      ...{ seq: record.seq, at: toIso(record.at), event: record.type },
      ...rest,
      ...shown,
      ...(by && { by: { kind: by.kind, id: by.id } }),
    },
  ]
}

/** The entries written so far, about `PAGE` at most. @param version of the task */
export async function readTimeline(
  reading: TaskReader,
  after: number,
  version: number,
): Promise<TimelinePage> {
  const entries: TimelineEntry[] = []
  let seq = after
  while (seq < version && entries.length < PAGE) {
    const batch = await reading.next()
    if (batch === undefined) break
    if ('chunks' in batch) continue
    entries.push(...timelineOf(batch.records))
    seq = batch.records.at(-1)?.seq ?? seq
  }
  return { entries, after: seq, more: seq < version }
}

/** The next entries as server-sent events: `data` is one entry, `id` its position. Undefined: the timeline ended. */
export async function nextEvents(reading: TaskReader): Promise<string | undefined> {
  for (;;) {
    const batch = await reading.next()
    if (batch === undefined) return undefined
    // Live text is not a record.
    if ('chunks' in batch) continue
    const frames = timelineOf(batch.records).map(
      (entry) => `id: ${entry.seq}\ndata: ${JSON.stringify(entry)}\n\n`,
    )
    if (frames.length > 0) return frames.join('')
  }
}

/** Who did what the record says. The run of the agent writes the records without one. */
function actorIn(record: LogRecord): Actor | undefined {
  if ('actor' in record) return record.actor
  return 'suspension' in record ? record.suspension.actor : undefined
}

function contentOf<N extends 'input' | 'result'>(
  name: N,
  value: Json | undefined,
): { readonly [K in N]?: ShownContent } {
  if (value === undefined || value === null) return {}
  return { [name]: shownContent(value) } as { readonly [K in N]?: ShownContent }
}

function said(message: Message | undefined): string {
  return message === undefined ? '' : textOf(message)
}

function short(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`
}

/** The last operation in a journal key: `step:a#1/tool:b#2` is the tool `b`. */
function lastIn(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

function kindOf(key: string): 'step' | 'tool' {
  return lastIn(key).startsWith('tool:') ? 'tool' : 'step'
}

function nameIn(key: string): string {
  return lastIn(key)
    .replace(/^[a-z-]+:/, '')
    .replace(/#\w+$/, '')
}
