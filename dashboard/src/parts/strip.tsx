/** The time of a task on one line: solid where it worked, dotted where it lay still. The timeline says the same in words. */
import { durationText } from '../../../src/core/values/duration.ts'
import type { TimelineEntry } from '../../../src/wire/ops/tasks.ts'
import { type Axis, axisOf, hasEnded, mergedSpans, type Phase, placesOf } from '../time-axis.ts'
import { useNow, When } from './times.tsx'

const WIDTH = 1_000
const HEIGHT = 28
/** A stretch of work that is shorter than this is widened, so that it is seen. */
const LEAST = 12
const MOST_COSTS = 3

const words: Readonly<Record<Phase, string>> = {
  working: 'worked',
  asks: 'waited for a person',
  stopped: 'stopped',
  queued: 'queued',
}
const fills: Readonly<Record<Phase, string>> = {
  working: 'c-run',
  asks: 'c-ask',
  stopped: 'c-stop',
  queued: 'c-off',
}

interface Entries {
  readonly entries: readonly TimelineEntry[]
}

/** Drawn again every second only while the task is open. */
export function Strip({ entries }: Entries) {
  return hasEnded(entries) ? <Drawn axis={axisOf(entries, 0)} /> : <Live entries={entries} />
}

function Live({ entries }: Entries) {
  return <Drawn axis={axisOf(entries, useNow())} isOpen />
}

function Drawn({
  axis,
  isOpen = false,
}: {
  readonly axis: Axis | undefined
  readonly isOpen?: boolean
}) {
  if (axis === undefined) return null
  const { from, to, phases } = axis
  const spans = mergedSpans(axis.spans, (to - from) / 100)
  const places = placesOf(spans, WIDTH, LEAST)
  const shares = phases.map(({ phase, ms }) => `${words[phase]} ${durationText(ms)}`).join(', ')
  return (
    <div class="pad">
      <svg
        class="scale"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${durationText(to - from)} in all, short stretches widened: ${shares}`}
      >
        {spans.map((span, index) => (
          <Stretch key={index} phase={span.phase} at={places[index]} />
        ))}
      </svg>
      <div class="axis" aria-hidden="true">
        <When at={new Date(from).toISOString()} />
        <span>
          {isOpen && 'now, '}
          <When at={new Date(to).toISOString()} />
        </span>
      </div>
      <Key axis={axis} />
    </div>
  )
}

function Stretch({
  phase,
  at,
}: {
  readonly phase: Phase
  readonly at: { readonly x: number; readonly width: number } | undefined
}) {
  if (at === undefined) return null
  const { x, width } = at
  if (phase === 'working') {
    return <rect class="c-run" x={x} y="6" width={Math.max(1, width - 3)} height="16" rx="2" />
  }
  const look = phase === 'asks' ? 'gap ask' : 'gap'
  const [from, to] = [x + 4, x + Math.max(5, width - 6)]
  return <line class={look} x1={from} x2={to} y1={HEIGHT / 2} y2={HEIGHT / 2} />
}

function Key({ axis }: { readonly axis: Axis }) {
  return (
    <p class="key">
      {axis.phases.map(({ phase, ms }) => (
        <span key={phase}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect class={fills[phase]} width="10" height="10" rx={phase === 'working' ? 2 : 5} />
          </svg>
          {words[phase]} {durationText(ms)}
        </span>
      ))}
      {axis.costs.slice(0, MOST_COSTS).map(({ turn, costUsd, tokens }) => (
        <span key={turn}>
          {turn === 0 ? 'before the first turn' : `turn ${turn}`}:{' '}
          {costUsd > 0 && `$${costUsd.toFixed(4)}, `}
          {tokens.toLocaleString()} tokens
        </span>
      ))}
    </p>
  )
}
