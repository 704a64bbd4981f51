/** Where the time and the money of a task went, from its timeline: spans and points on one axis. */
import type { TimelineEntry } from '../../src/wire/ops/tasks.ts'

export type Phase = 'queued' | 'working' | 'asks' | 'stopped'

export interface Span {
  readonly lane: 'phase' | 'turn' | 'step'
  /** The colour: a phase, or the outcome of a turn or a step. */
  readonly kind: string
  readonly label: string
  /** Epoch milliseconds. */
  readonly from: number
  readonly to: number
}

export interface Point {
  readonly kind: TimelineEntry['kind']
  readonly label: string
  readonly at: number
}

export interface Axis {
  readonly from: number
  readonly to: number
  readonly spans: readonly Span[]
  readonly points: readonly Point[]
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

const points: ReadonlySet<string> = new Set([
  'wake',
  'reminder',
  'output',
  'hold',
  'child',
  'message',
])

export function hasEnded(entries: readonly TimelineEntry[]): boolean {
  return entries.some(({ event }) => begins[event] === null)
}

/** @param now the end of a task that has not ended, unless an entry is later: the clock of the server may be ahead */
export function axisOf(entries: readonly TimelineEntry[], now: number): Axis | undefined {
  const [first] = entries
  if (first === undefined) return undefined
  const from = Date.parse(first.at)
  const end = entries.findLast(({ event }) => begins[event] === null)
  const last = Date.parse(entries.at(-1)?.at ?? first.at)
  const to = Math.max(from + 1, end === undefined ? Math.max(now, last) : Date.parse(end.at))
  const spans = [...phaseSpans(entries, to), ...turnSpans(entries, to), ...stepSpans(entries)]
  return {
    from,
    to,
    spans,
    points: entries
      .filter(({ kind }) => points.has(kind))
      .map(({ kind, event, text, at }) => ({
        kind,
        at: Date.parse(at),
        label: [event, text].filter((word) => word !== undefined).join(': '),
      })),
    phases: totalsOf(spans),
    costs: costsOf(entries),
  }
}

function phaseSpans(entries: readonly TimelineEntry[], to: number): readonly Span[] {
  const changes = entries.flatMap(({ event, at }) => {
    const phase = begins[event]
    return phase === undefined ? [] : [{ phase, at: Date.parse(at) }]
  })
  return changes.flatMap(({ phase, at }, index) => {
    const until = changes[index + 1]?.at ?? to
    if (phase === null || until <= at) return []
    return [{ lane: 'phase' as const, kind: phase, label: phase, from: at, to: until }]
  })
}

function turnSpans(entries: readonly TimelineEntry[], to: number): readonly Span[] {
  const ends = new Map(
    entries.filter(({ event }) => event === 'turn-ended').map((entry) => [entry.turn, entry]),
  )
  return entries.flatMap(({ event, turn, at }) => {
    if (event !== 'turn-started') return []
    const ended = ends.get(turn)
    const until = ended === undefined ? to : Date.parse(ended.at)
    const kind = ended === undefined ? 'working' : (ended.outcome ?? 'done')
    return [{ lane: 'turn' as const, kind, label: `turn ${turn}`, from: Date.parse(at), to: until }]
  })
}

/** The log says when a step ended. It is drawn from the entry before. */
function stepSpans(entries: readonly TimelineEntry[]): readonly Span[] {
  return entries.flatMap((entry, index) => {
    const { kind, name = '', outcome = 'done', attempt = 1, at } = entry
    const before = entries[index - 1]
    if ((kind !== 'step' && kind !== 'tool') || before === undefined) return []
    const label = `${kind} ${name}${attempt > 1 ? `, attempt ${attempt}` : ''}: ${outcome}`
    const [from, to] = [Date.parse(before.at), Date.parse(at)]
    return [{ lane: 'step' as const, kind: outcome, label, from, to }]
  })
}

function totalsOf(spans: readonly Span[]): Axis['phases'] {
  const all: readonly Phase[] = ['working', 'asks', 'stopped', 'queued']
  return all.flatMap((phase) => {
    const own = spans.filter(({ lane, kind }) => lane === 'phase' && kind === phase)
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

/** What is drawn: neighbours of a lane that are together narrower than `width` are one, however many there are. */
export function mergedSpans(spans: readonly Span[], width: number): readonly Span[] {
  const drawn: Span[] = []
  const open = new Map<Span['lane'], { readonly index: number; readonly count: number }>()
  for (const span of spans) {
    const before = open.get(span.lane)
    const group = before && drawn[before.index]
    if (before === undefined || group === undefined || span.to - group.from >= width) {
      open.set(span.lane, { index: drawn.length, count: 1 })
      drawn.push(span)
      continue
    }
    const count = before.count + 1
    open.set(span.lane, { ...before, count })
    const kind = span.kind === 'failed' ? span.kind : group.kind
    const to = Math.max(group.to, span.to)
    drawn[before.index] = { ...group, kind, to, label: `${count} of ${span.lane}` }
  }
  return drawn
}

/** As `mergedSpans`, by kind. */
export function mergedPoints(points: readonly Point[], width: number): readonly Point[] {
  const groups = new Map<Point['kind'], { at: number; index: number; count: number }>()
  const drawn: Point[] = []
  for (const point of points) {
    const group = groups.get(point.kind)
    if (group === undefined || point.at - group.at >= width) {
      groups.set(point.kind, { at: point.at, index: drawn.length, count: 1 })
      drawn.push(point)
    } else {
      group.count++
      drawn[group.index] = { ...point, at: group.at, label: `${group.count} of ${point.kind}` }
    }
  }
  return drawn
}
