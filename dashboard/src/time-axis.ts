/** Where the time and the money of a task went, from its timeline. */
import type { TimelineEntry } from '../../src/wire/ops/tasks.ts'

export type Phase = 'queued' | 'working' | 'asks' | 'stopped'

/** A stretch of time in one phase. */
export interface Span {
  readonly phase: Phase
  /** Epoch milliseconds. */
  readonly from: number
  readonly to: number
  /** How many stretches it stands for. */
  readonly count: number
}

export interface Axis {
  readonly from: number
  readonly to: number
  readonly spans: readonly Span[]
  readonly phases: readonly { readonly phase: Phase; readonly ms: number }[]
  /** By turn, the most expensive first. */
  readonly costs: readonly Cost[]
}

export interface Cost {
  readonly turn: number
  readonly costUsd: number
  readonly tokens: number
}

/** The phase that begins with an event. Null: the task has ended. Other events change no phase. */
const begins: Readonly<Record<string, Phase | null>> = {
  submitted: 'queued',
  released: 'queued',
  started: 'working',
  resumed: 'working',
  answered: 'working',
  asked: 'asks',
  parked: 'stopped',
  paused: 'stopped',
  completed: null,
  failed: null,
  rejected: null,
  canceled: null,
}

/** What the task does from this entry on. Null: it has ended. Undefined: the entry changes nothing. */
export function phaseFrom({ event }: TimelineEntry): Phase | null | undefined {
  return begins[event]
}

export function hasEnded(entries: readonly TimelineEntry[]): boolean {
  return entries.some((entry) => phaseFrom(entry) === null)
}

/** @param now the end of a task that has not ended, unless an entry is later: the clock of the server may be ahead */
export function axisOf(entries: readonly TimelineEntry[], now: number): Axis | undefined {
  const [first] = entries
  if (first === undefined) return undefined
  const from = Date.parse(first.at)
  const end = entries.findLast((entry) => phaseFrom(entry) === null)
  const last = Date.parse(entries.at(-1)?.at ?? first.at)
  const to = Math.max(from + 1, end === undefined ? Math.max(now, last) : Date.parse(end.at))
  const spans = spansOf(entries, to)
  return { from, to, spans, phases: totalsOf(spans), costs: costsOf(entries) }
}

function spansOf(entries: readonly TimelineEntry[], to: number): readonly Span[] {
  const changes = entries.flatMap((entry) => {
    const phase = phaseFrom(entry)
    return phase === undefined ? [] : [{ phase, at: Date.parse(entry.at) }]
  })
  return changes.flatMap(({ phase, at }, index) => {
    const until = changes[index + 1]?.at ?? to
    return phase === null || until <= at ? [] : [{ phase, from: at, to: until, count: 1 }]
  })
}

function totalsOf(spans: readonly Span[]): Axis['phases'] {
  const all: readonly Phase[] = ['working', 'asks', 'stopped', 'queued']
  return all.flatMap((phase) => {
    const own = spans.filter((span) => span.phase === phase)
    const ms = own.reduce((sum, span) => sum + span.to - span.from, 0)
    return ms === 0 ? [] : [{ phase, ms }]
  })
}

function costsOf(entries: readonly TimelineEntry[]): readonly Cost[] {
  const byTurn = new Map<number, Cost>()
  let turn = 0
  for (const entry of entries) {
    if (entry.event === 'turn-started') turn = entry.turn ?? turn
    if (entry.kind !== 'usage') continue
    const { costUsd, tokens } = byTurn.get(turn) ?? { costUsd: 0, tokens: 0 }
    byTurn.set(turn, {
      turn,
      costUsd: costUsd + (entry.costUsd ?? 0),
      tokens: tokens + (entry.tokens ?? 0),
    })
  }
  return [...byTurn.values()].sort((a, b) => b.costUsd - a.costUsd || b.tokens - a.tokens)
}

/** What is drawn: neighbours that are together shorter than `ms` are one, in the phase of the longest. */
export function mergedSpans(spans: readonly Span[], ms: number): readonly Span[] {
  const drawn: Span[] = []
  for (const span of spans) {
    const before = drawn.at(-1)
    if (before === undefined || span.to - before.from >= ms) {
      drawn.push(span)
      continue
    }
    const { phase } = span.to - span.from > before.to - before.from ? span : before
    drawn[drawn.length - 1] = { phase, from: before.from, to: span.to, count: before.count + 1 }
  }
  return drawn
}

/** Where each span is drawn, from 0 to `width`. A span that is too short to be seen is widened. */
export function placesOf(
  spans: readonly Span[],
  width: number,
  least: number,
): readonly { readonly x: number; readonly width: number }[] {
  const total = spans.reduce((sum, { from, to }) => sum + to - from, 0) || 1
  const wide = spans.map(({ from, to }) => Math.max(least, (width * (to - from)) / total))
  const scale = width / (wide.reduce((sum, one) => sum + one, 0) || 1)
  let x = 0
  return wide.map((one) => {
    const place = { x, width: one * scale }
    x += place.width
    return place
  })
}
