/** What happened to a task, oldest first. A long wait is a break that says its length, so that work stays visible. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { durationText } from '../../../src/core/values/duration.ts'
import type { ReceiptReport, ReceiptSummary } from '../../../src/wire/ops/logs.ts'
import type { TimelineEntry } from '../../../src/wire/ops/tasks.ts'
import { ops } from '../server.ts'
import { TimeChart } from './time-chart.tsx'

const entries = signal<readonly TimelineEntry[]>([])
const receipts = signal<ReceiptReport | undefined>(undefined)

/** How many entries are shown at first. */
const SHOWN = 200
const RETRY_MS = 1_000
const DRAW_MS = 50
const BREAK_MS = 2_000

export function Timeline({
  taskId,
  version,
}: {
  readonly taskId: string
  readonly version: number
}) {
  useEffect(() => followTask(taskId), [taskId])
  useEffect(() => {
    ops()
      .receipts(taskId)
      .then(
        (report) => {
          receipts.value = report
        },
        () => undefined,
      )
  }, [taskId, version])
  const all = entries.value
  const shown = all.slice(-SHOWN)
  const longest = Math.max(1, ...shown.map((entry, index) => gap(shown, index, entry)))
  return (
    <section aria-label="Timeline">
      <h2>Timeline</h2>
      <TimeChart entries={all} />
      <Receipts />
      {all.length > SHOWN && (
        <p class="empty">
          The newest {SHOWN} of {all.length} entries.
        </p>
      )}
      <ol class="timeline">
        {shown.map((entry, index) => (
          <Entry
            key={entry.seq}
            entry={entry}
            verdict={verdictOn(entry, shown[index + 1])}
            after={gap(shown, index, entry)}
            longest={Math.min(longest, BREAK_MS)}
          />
        ))}
      </ol>
    </section>
  )
}

function Entry(props: {
  readonly entry: TimelineEntry
  readonly verdict: ReceiptSummary['verdict'] | undefined
  readonly after: number
  readonly longest: number
}) {
  const { entry, verdict, after, longest } = props
  const words = [entry.name, entry.outcome, entry.text].filter((word) => word !== undefined)
  return (
    <>
      {after > BREAK_MS && <li class="break">{durationText(after)} later</li>}
      <li data-kind={entry.kind} data-outcome={entry.outcome}>
        <time dateTime={entry.at} title={entry.at}>
          {entry.at.slice(11, 23)}
        </time>
        <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
          <rect width={Math.max(1, (100 * Math.min(after, BREAK_MS)) / longest)} height="6" />
        </svg>
        <span class="event">
          {entry.event}
          {entry.turn !== undefined && ` ${entry.turn}`}
          {entry.attempt !== undefined && entry.attempt > 1 && `, attempt ${entry.attempt}`}
        </span>
        <span class="words">
          {words.join(' · ')}
          {entry.kind === 'usage' && spent(entry)}
          {verdict !== undefined && <Mark verdict={verdict} />}
        </span>
      </li>
    </>
  )
}

function spent({ costUsd, tokens = 0 }: TimelineEntry): string {
  const cost = costUsd === undefined ? '' : `${costUsd.toFixed(4)} USD, `
  return `${cost}${tokens.toLocaleString()} tokens`
}

const marks = {
  genuine: ['verified', '✓ receipt verified'],
  wrong: ['refusal', '✗ receipt is not genuine'],
  vouched: ['empty', '? receipt not verified: the import of the task vouches for its key'],
  'unknown-key': ['empty', '? receipt not checked: the server does not have its key'],
} as const

function Mark({ verdict }: { readonly verdict: ReceiptSummary['verdict'] }) {
  const [look, text] = marks[verdict]
  return <span class={look}> {text}</span>
}

/** The receipt of a stop or a wake is written right after it, in the same commit. */
function verdictOn(entry: TimelineEntry, next: TimelineEntry | undefined) {
  const until = next?.seq ?? Number.POSITIVE_INFINITY
  return receipts.value?.receipts.find(({ seq }) => seq > entry.seq && seq < until)?.verdict
}

function Receipts() {
  const report = receipts.value
  if (report === undefined || report.receipts.length === 0) return null
  const { length } = report.receipts
  const isForged = report.faults.some(({ unknownKey }) => unknownKey === undefined)
  return report.faults.length === 0 ? (
    <p class="verified">
      ✓ {length === 1 ? '1 receipt' : `${length} receipts`} of stops and wakes, verified by the
      server now
    </p>
  ) : (
    <p class={isForged ? 'refusal' : 'empty'} role="alert">
      {isForged ? '✗ ' : '? '}
      {report.faults.map(({ seq, problem }) => `record ${seq}: ${problem}`).join('; ')}
    </p>
  )
}

/** Milliseconds since the entry before. */
function gap(all: readonly TimelineEntry[], index: number, entry: TimelineEntry): number {
  const before = all[index - 1]
  return before === undefined ? 0 : Date.parse(entry.at) - Date.parse(before.at)
}

/** Reads the timeline, then follows it, also across restarts of the server. */
function followTask(taskId: string): () => void {
  const left = new AbortController()
  entries.value = []
  receipts.value = undefined
  // Entries that arrive together are drawn together.
  let arrived: TimelineEntry[] = []
  let soon: ReturnType<typeof setTimeout> | undefined
  const draw = (): void => {
    clearTimeout(soon)
    soon = undefined
    if (left.signal.aborted || arrived.length === 0) return
    entries.value = [...entries.value, ...arrived]
    arrived = []
  }
  const read = async (): Promise<void> => {
    while (!left.signal.aborted) {
      draw()
      const last = entries.peek().at(-1)?.seq ?? 0
      try {
        for await (const entry of ops().follow(taskId, last, left.signal)) {
          arrived.push(entry)
          soon ??= setTimeout(draw, DRAW_MS)
        }
        // The task has ended.
        return draw()
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }
  read().catch(() => undefined)
  return () => left.abort()
}
