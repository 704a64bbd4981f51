/** The time of a task to true scale. The list below says the same in words, for people and screen readers. */
import { durationText } from '../../../src/core/values/duration.ts'
import type { TimelineEntry } from '../../../src/wire/ops/tasks.ts'
import { type Axis, axisOf, hasEnded, mergedPoints, mergedSpans, type Span } from '../time-axis.ts'
import { useNow } from './countdown.tsx'

const WIDTH = 1_000
const LANE = 20
const lanes: Readonly<Record<Span['lane'], number>> = { phase: 0, turn: 1, step: 2 }
const POINTS = 3
const MARKS = [0, 0.25, 0.5, 0.75, 1]
const MOST_COSTS = 5
/** Of a long task the newest are drawn. */
const MOST_DRAWN = 500

interface Entries {
  readonly entries: readonly TimelineEntry[]
}

/** Drawn again every second only while the task is open. */
export function TimeChart({ entries }: Entries) {
  return hasEnded(entries) ? <Chart axis={axisOf(entries, 0)} /> : <LiveChart entries={entries} />
}

function LiveChart({ entries }: Entries) {
  return <Chart axis={axisOf(entries, useNow())} />
}

function Chart({ axis }: { readonly axis: Axis | undefined }) {
  if (axis === undefined) return null
  const { from, to, phases } = axis
  const pixel = (to - from) / WIDTH
  const spans = mergedSpans(axis.spans, pixel)
  const points = mergedPoints(axis.points, pixel)
  const x = (at: number): number => (WIDTH * (at - from)) / (to - from)
  const whole = durationText(to - from)
  const shares = phases.map(({ phase, ms }) => `${phase} ${durationText(ms)}`).join(', ')
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${LANE * 4}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${whole} in all: ${shares}`}
      >
        {drawn(spans).map((span, index) => (
          <rect
            key={index}
            data-kind={span.kind}
            data-lane={span.lane}
            x={x(span.from)}
            y={lanes[span.lane] * LANE + 2}
            width={Math.max(2, x(span.to) - x(span.from))}
            height={LANE - 4}
          >
            <title>{`${span.label}, ${durationText(Math.max(0, span.to - span.from))}`}</title>
          </rect>
        ))}
        {points.slice(-MOST_DRAWN).map((point, index) => (
          <rect
            key={index}
            data-kind={point.kind}
            data-lane="point"
            x={Math.min(WIDTH - 4, x(point.at))}
            y={POINTS * LANE + 2}
            width={4}
            height={LANE - 4}
          >
            <title>{point.label}</title>
          </rect>
        ))}
      </svg>
      <div class="lanes" aria-hidden="true">
        <span>state</span>
        <span>turns</span>
        <span>steps</span>
        <span>events</span>
      </div>
      <div class="scale" aria-hidden="true">
        {MARKS.map((mark) => (
          <span key={mark}>{mark === 0 ? '0' : durationText((to - from) * mark)}</span>
        ))}
      </div>
      <figcaption>
        <Shares axis={axis} />
      </figcaption>
    </figure>
  )
}

function drawn(spans: readonly Span[]): readonly Span[] {
  const isPhase = ({ lane }: Span): boolean => lane === 'phase'
  const others = spans.filter((span) => !isPhase(span))
  return [...spans.filter(isPhase), ...others.slice(-MOST_DRAWN)]
}

function Shares({ axis }: { readonly axis: Axis }) {
  const { from, to, phases, costs } = axis
  return (
    <ul class="shares">
      {phases.map(({ phase, ms }) => (
        <li key={phase}>
          <span class="swatch" data-kind={phase} aria-hidden="true" /> {phase} {durationText(ms)} (
          {((100 * ms) / (to - from)).toFixed(0)} %)
        </li>
      ))}
      {costs.slice(0, MOST_COSTS).map(({ turn, costUsd, tokens }) => (
        <li key={turn}>
          {turn === 0 ? 'before the first turn' : `turn ${turn}`}:{' '}
          {costUsd > 0 && `${costUsd.toFixed(4)} USD, `}
          {tokens.toLocaleString()} tokens
        </li>
      ))}
    </ul>
  )
}
