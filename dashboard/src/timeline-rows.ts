/** The rows of a timeline: its entries in words, with what they took, and where the task lay still. */
import type { TimelineEntry } from '../../src/wire/ops/tasks.ts'
import { phaseFrom } from './time-axis.ts'

export interface Row {
  readonly entry: TimelineEntry
  /** What happened, in a word or two. */
  readonly word: string
  /** The shape of a state at its line; absent for a dot. */
  readonly look?: {
    readonly shape: string
    readonly tone: 'run' | 'ask' | 'stop' | 'done' | 'fail' | 'off'
  }
  /** Milliseconds that it took, or that the task stood there. */
  readonly took?: number
  /** A stop begins here. */
  readonly begins?: 'stop' | 'ask'
  /** The task lies still meanwhile: its line is dotted. */
  readonly isStill: boolean
  /** Of a stop: what ended it, and who. */
  readonly ended?: TimelineEntry
}

/** What a reader may want to see alone. */
export type Choice = 'all' | 'stops' | 'steps'

const words: Readonly<Record<string, string>> = {
  submitted: 'Started',
  started: 'Began to work',
  released: 'Given back to the queue',
  completed: 'Completed',
  failed: 'Failed',
  rejected: 'Rejected',
  canceled: 'Canceled',
  parked: 'Parked',
  paused: 'Paused',
  'pause-requested': 'Pause asked for',
  resumed: 'Woke',
  asked: 'Asked',
  answered: 'Answered',
  held: 'Held',
  lifted: 'Hold lifted',
  deferred: 'Kept until the hold is lifted',
  said: 'Said',
  artifact: 'Made',
  message: 'Message',
  'reminder-injected': 'Reminder',
  delegated: 'Started a task of',
  'child-ended': 'Its task ended',
  forked: 'Forked',
  imported: 'Imported',
}

const shapes: Readonly<Record<string, Row['look']>> = {
  submitted: { shape: 'submitted', tone: 'run' },
  'turn-started': { shape: 'working', tone: 'run' },
  completed: { shape: 'completed', tone: 'done' },
  failed: { shape: 'failed', tone: 'fail' },
  rejected: { shape: 'rejected', tone: 'fail' },
  canceled: { shape: 'canceled', tone: 'off' },
  parked: { shape: 'parked', tone: 'stop' },
  paused: { shape: 'paused', tone: 'stop' },
  asked: { shape: 'input', tone: 'ask' },
  held: { shape: 'held', tone: 'off' },
}

/** @param now the end of what has not ended */
export function rowsOf(entries: readonly TimelineEntry[], now: number): readonly Row[] {
  const turnEnds = new Map(
    entries.filter(({ event }) => event === 'turn-ended').map((entry) => [entry.turn, entry]),
  )
  let isStill = false
  return entries.flatMap((entry, index): readonly Row[] => {
    const phase = phaseFrom(entry)
    if (phase !== undefined) isStill = phase === 'asks' || phase === 'stopped'
    const begins = phase === 'asks' ? 'ask' : phase === 'stopped' ? 'stop' : undefined
    // The row of the turn's beginning says how long it took.
    if (entry.event === 'turn-ended' && entry.outcome === 'done') return []
    const ended = begins === undefined ? undefined : endOf(entries, index)
    const until = begins === undefined ? undefined : (ended?.at ?? new Date(now).toISOString())
    const took =
      until === undefined
        ? tookOf(entry, entries[index - 1], turnEnds)
        : Math.max(0, Date.parse(until) - Date.parse(entry.at))
    const look = shapes[entry.event]
    return [
      {
        ...{ entry, word: wordOf(entry), isStill },
        ...(look && { look }),
        ...(took !== undefined && { took }),
        ...(begins && { begins }),
        ...(ended && { ended }),
      },
    ]
  })
}

/** What ended the stop that begins at an entry: the next one that changes the phase. */
function endOf(entries: readonly TimelineEntry[], index: number): TimelineEntry | undefined {
  return entries.slice(index + 1).find((entry) => phaseFrom(entry) !== undefined)
}

/** The log says when a step ended. It began with the entry before. */
function tookOf(
  { kind, event, turn, at }: TimelineEntry,
  before: TimelineEntry | undefined,
  turnEnds: ReadonlyMap<number | undefined, TimelineEntry>,
): number | undefined {
  if (event === 'turn-started') {
    const end = turnEnds.get(turn)
    return end && Date.parse(end.at) - Date.parse(at)
  }
  if ((kind !== 'step' && kind !== 'tool') || before === undefined) return undefined
  return Math.max(0, Date.parse(at) - Date.parse(before.at))
}

function wordOf({ event, turn, kind, attempt = 1 }: TimelineEntry): string {
  if (kind === 'turn') return event === 'turn-started' ? `Turn ${turn}` : `Turn ${turn} ended`
  if (kind === 'usage') return 'Model'
  if (kind === 'step' || kind === 'tool') return attempt > 1 ? `attempt ${attempt}` : ''
  return words[event] ?? event
}

const inChoice: Readonly<Record<Choice, (row: Row) => boolean>> = {
  all: () => true,
  stops: ({ entry: { kind } }) => ['stop', 'wake', 'question', 'hold', 'task'].includes(kind),
  steps: ({ entry: { kind } }) => ['turn', 'step', 'tool', 'child', 'usage'].includes(kind),
}

export const chosen = (rows: readonly Row[], choice: Choice): readonly Row[] =>
  rows.filter(inChoice[choice])
