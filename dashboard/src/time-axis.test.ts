import { expect, it } from 'vitest'
import type { TimelineEntry } from '../../src/wire/ops/tasks.ts'
import { axisOf, hasEnded, mergedSpans, placesOf } from './time-axis.ts'

const start = Date.parse('2026-01-01T00:00:00Z')

function entriesOf(
  ...given: readonly (readonly [second: number, facts: Omit<TimelineEntry, 'seq' | 'at'>])[]
): readonly TimelineEntry[] {
  return given.map(([second, facts], index) => ({
    seq: index + 1,
    at: new Date(start + second * 1_000).toISOString(),
    ...facts,
  }))
}

const story = entriesOf(
  [0, { kind: 'task', event: 'submitted' }],
  [1, { kind: 'task', event: 'started' }],
  [1, { kind: 'turn', event: 'turn-started', turn: 1 }],
  [3, { kind: 'step', event: 'step', name: 'plan', outcome: 'done' }],
  [3, { kind: 'usage', event: 'usage', costUsd: 0.01, tokens: 100 }],
  [4, { kind: 'stop', event: 'parked' }],
  [64, { kind: 'wake', event: 'resumed', text: 'event' }],
  [65, { kind: 'turn', event: 'turn-ended', turn: 1, outcome: 'done' }],
  [65, { kind: 'turn', event: 'turn-started', turn: 2 }],
  [66, { kind: 'usage', event: 'usage', costUsd: 0.02, tokens: 300 }],
  [66, { kind: 'question', event: 'asked' }],
  [76, { kind: 'question', event: 'answered' }],
  [77, { kind: 'task', event: 'completed' }],
)

it('says how long the task was queued, worked, asked and was stopped', () => {
  const axis = axisOf(story, start + 999_999)
  expect(axis?.phases).toEqual([
    { phase: 'working', ms: 6_000 },
    { phase: 'asks', ms: 10_000 },
    { phase: 'stopped', ms: 60_000 },
    { phase: 'queued', ms: 1_000 },
  ])
  expect([axis?.from, axis?.to]).toEqual([start, start + 77_000])
})

it('says which turn cost most', () => {
  expect(axisOf(story, start)?.costs).toEqual([
    { turn: 2, costUsd: 0.02, tokens: 300 },
    { turn: 1, costUsd: 0.01, tokens: 100 },
  ])
})

it('goes on until now while the task has not ended, and needs a first entry', () => {
  const axis = axisOf(story.slice(0, 6), start + 10_000)
  expect(axis?.phases).toContainEqual({ phase: 'stopped', ms: 6_000 })
  expect(axisOf([], start)).toBeUndefined()
})

it('has room for every entry when the clock of the page is behind that of the server', () => {
  const axis = axisOf(story.slice(0, 8), start - 3_600_000)
  expect(axis?.to).toBe(start + 65_000)
  expect(axis?.spans.every(({ from, to }) => from <= to && to <= start + 65_000)).toBe(true)
})

it('says whether the task has ended', () => {
  expect([hasEnded(story), hasEnded(story.slice(0, -1))]).toEqual([true, false])
})

it('draws a bounded number of stretches, however many there are, each in the phase of its longest', () => {
  const spans = Array.from({ length: 50_000 }, (_, at) => ({
    phase: at % 50 === 7 ? ('stopped' as const) : ('working' as const),
    ...{ from: at, to: at + 1, count: 1 },
  }))
  const drawn = mergedSpans(spans, 500)
  expect(drawn.length).toBeLessThanOrEqual(110)
  expect([drawn[0]?.from, drawn.at(-1)?.to]).toEqual([0, 50_000])
  expect(mergedSpans(spans.slice(0, 3), 1)).toEqual(spans.slice(0, 3))
})

it('widens a stretch that is too short to be seen, and fills the whole width', () => {
  const span = (from: number, to: number) => ({ phase: 'working' as const, from, to, count: 1 })
  const places = placesOf([span(0, 1), span(1, 10_000)], 1_000, 12)
  expect(places[0]?.width).toBeGreaterThan(11)
  expect((places[1]?.x ?? 0) + (places[1]?.width ?? 0)).toBeCloseTo(1_000)
})
