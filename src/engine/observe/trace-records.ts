/**
 * Gives records the spans that they belong to, before they are stored.
 *
 *  T1  the span of a suspension has ended before the record of the stop is stored, and the record has its link;
 *  T2  the span of a resume has no parent: it links to the span of the suspension, to the span that the task was in when
 *      it stopped, and to the span of the event that woke it;
 *  T3  a command that is decided again makes no second span of a suspension;
 *  T4  a resume or a reminder that is not written is no span.
 */
import type { RecordBody, RecordType } from '../../core/records.ts'
import type { SpanLinks, Suspension } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import { fromTraceparent, type SpanLink } from '../../core/values/span-link.ts'
import { noTracing, type Span, type SpanFacts, type Tracing } from '../../ports/tracing.ts'
import { taskAttributes } from './task-attributes.ts'

/** The spans of one command. */
export interface CommandSpans {
  /** The span in which the command was given. */
  readonly cause: SpanLink | undefined
  stop: SpanLinks | undefined
  /** Ended when the command is written. */
  open: Span[]
}

export interface RecordTracing {
  /** Undefined while nothing is traced. */
  begin(): CommandSpans | undefined
  /** @param task the task before the record; undefined for its first record */
  stamp(body: RecordBody, task: Task | undefined, spans: CommandSpans, at: number): RecordBody
}

export interface RecordTracingDeps {
  readonly tracing?: Tracing
  /** The span of the run that has the task in this process. */
  readonly segmentOf?: (taskId: string) => SpanLink | undefined
}

export function createRecordTracing({
  tracing = noTracing,
  segmentOf,
}: RecordTracingDeps): RecordTracing {
  return {
    begin: () =>
      tracing.active() ? { cause: tracing.current(), stop: undefined, open: [] } : undefined,
    stamp(body, task, spans, at) {
      if (body.type === 'submitted') return caused(body, spans)
      if (task === undefined) return body
      const stamp = stamps[body.type] as Stamp<RecordType>
      return stamp(body, { tracing, task, spans, at, segment: segmentOf?.(task.id) })
    },
  }
}

interface StampContext {
  readonly tracing: Tracing
  /** Before the record. */
  readonly task: Task
  readonly spans: CommandSpans
  readonly segment: SpanLink | undefined
  readonly at: number
}
type Body<T extends RecordType> = RecordBody & { readonly type: T }
type Stamp<T extends RecordType> = (body: Body<T>, context: StampContext) => RecordBody

const untraced: Stamp<RecordType> = (body) => body

const stamps: { readonly [T in Exclude<RecordType, 'submitted'>]: Stamp<T> } = {
  answered: (body, { spans }) => caused(body, spans),
  parked: (body, context) => ({
    ...body,
    suspension: { ...body.suspension, links: stopLinks(body.suspension, context) },
  }),
  paused: (body, context) => {
    const { pausing } = context.task
    return pausing === undefined ? body : { ...body, links: stopLinks(pausing, context) }
  },
  resumed: (body, { tracing, task, spans }) => {
    const span = open(spans, resumeSpan(tracing, task, body))
    return span === undefined ? body : { ...body, trace: span.link }
  },
  'reminder-injected': (body, { tracing, task, spans: { cause }, spans }) => {
    const { reminder, provider } = body
    const attributes = {
      ...taskAttributes(task),
      'lull.reminder.id': reminder.id,
      'lull.reminder.provider': provider,
    }
    open(spans, tracing.start('reminder', { parent: cause, attributes }))
    return body
  },

  delegated: untraced,
  'pause-withdrawn': untraced,
  deferred: untraced,
  step: untraced,
  value: untraced,
  'child-called': untraced,
  abandoned: untraced,
  'not-awaited': untraced,
  'turn-ended': untraced,
  compacted: untraced,
  continued: untraced,
  started: untraced,
  released: untraced,
  message: untraced,
  said: untraced,
  artifact: untraced,
  usage: untraced,
  attempt: untraced,
  skipped: untraced,
  'child-ended': untraced,
  'turn-started': untraced,
  voided: untraced,
  asked: untraced,
  'asked-again': untraced,
  'pause-requested': untraced,
  'pause-upgraded': untraced,
  'pause-kept': untraced,
  held: untraced,
  lifted: untraced,
  'reminders-shown': untraced,
  'reminder-deduped': untraced,
  'reminder-expired': untraced,
  completed: untraced,
  failed: untraced,
  rejected: untraced,
  canceled: untraced,
  receipt: untraced,
  imported: untraced,
  forked: untraced,
}

function caused<T extends 'submitted' | 'answered'>(
  body: Body<T>,
  { cause }: CommandSpans,
): RecordBody {
  if (cause === undefined) return body
  // In place, as `numbered` does: a copy of so many keys is slow to read and to encode.
  const traced: { trace?: SpanLink | undefined } = body
  traced.trace = cause
  return body
}

function open(spans: CommandSpans, span: Span | undefined): Span | undefined {
  if (span !== undefined) spans.open.push(span)
  return span
}

/** The span of the suspension begins with the request of the stop, and has ended when this returns. */
function stopLinks(suspension: Suspension, context: StampContext): SpanLinks {
  const { tracing, task, spans, segment, at } = context
  if (spans.stop !== undefined) return spans.stop
  const { cause } = spans
  const pipelineSpan = segment ?? cause
  const span = tracing.start('suspension', {
    parent: cause ?? pipelineSpan,
    startedAt: suspension.requestedAt,
    attributes: suspensionAttributes(task, suspension, pipelineSpan),
  })
  const to_state = suspension.initiator === 'agent' ? 'paused-by-agent' : 'paused-by-client'
  span?.event('task.state_changed', { from_state: suspension.pausedFrom, to_state })
  span?.end(at)
  spans.stop = {
    ...(span === undefined ? {} : { span: span.link }),
    ...(pipelineSpan === undefined ? {} : { pipelineSpan }),
  }
  return spans.stop
}

function resumeSpan(tracing: Tracing, task: Task, body: Body<'resumed'>): Span | undefined {
  const { handle, cause, continueTranscript, actor, input } = body
  const links = resumeLinks(task.suspension, body)
  const span = tracing.start('resume', {
    links,
    attributes: {
      ...taskAttributes(task),
      worker_id: task.id,
      handle,
      cause,
      initiator: actor?.kind,
      continue_transcript: continueTranscript,
      had_resume_input: input !== null,
      linked_suspension_count: links.filter(({ kind }) => kind !== 'event').length,
    },
  })
  const to_state = task.question === undefined ? 'working' : task.question.state
  span?.event('task.state_changed', { from_state: task.state, to_state })
  return span
}

function suspensionAttributes(
  task: Task,
  { handle, reason, initiator, conditions, mode }: Suspension,
  pipeline: SpanLink | undefined,
): NonNullable<SpanFacts['attributes']> {
  return {
    ...taskAttributes(task),
    worker_id: task.id,
    handle,
    reason,
    initiator,
    mode,
    has_conditions: conditions !== undefined,
    pipeline_span_id: pipeline?.spanId,
    parent_worker_id: task.parentId,
  }
}

function resumeLinks(
  suspension: Suspension | undefined,
  { event }: Body<'resumed'>,
): NonNullable<SpanFacts['links']> {
  const { links } = suspension ?? {}
  const woke =
    event !== undefined && 'traceparent' in event
      ? fromTraceparent(event['traceparent'])
      : undefined
  const all = [
    { to: links?.span, kind: 'suspension' },
    { to: links?.pipelineSpan, kind: 'pipeline' },
    { to: woke, kind: 'event' },
  ]
  return all.flatMap(({ to, kind }) => (to === undefined ? [] : [{ to, kind }]))
}
