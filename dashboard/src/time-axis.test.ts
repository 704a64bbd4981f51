import { expect, it } from 'vitest'
import type { TimelineEntry } from '../../src/wire/ops/tasks.ts'
import { axisOf, hasEnded, mergedPoints, mergedSpans } from './time-axis.ts'

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

it('draws turns and steps to scale, and the wake as a point', () => {
  const { spans = [], points = [] } = axisOf(story, start) ?? {}
  const shown = spans
    .filter(({ lane }) => lane !== 'phase')
    .map(({ label, from, to }) => [label, from - start, to - start])
  expect(shown).toEqual([
    ['turn 1', 1_000, 65_000],
    ['turn 2', 65_000, 77_000],
    ['step plan: done', 1_000, 3_000],
  ])
  expect(points).toEqual([{ kind: 'wake', label: 'resumed: event', at: start + 64_000 }])
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

it('draws a bounded number of spans and points, however many there are', () => {
  const many = Array.from({ length: 50_000 }, (_, index) => index)
  const spans = many.map((at) => ({
    ...{ lane: 'step' as const, label: 'step', from: at, to: at + 1 },
    kind: at === 70 ? 'failed' : 'done',
  }))
  const drawn = mergedSpans(spans, 50)
  expect(drawn.length).toBeLessThanOrEqual(1_100)
  expect([drawn[0]?.from, drawn.at(-1)?.to, drawn[1]?.kind]).toEqual([0, 50_000, 'failed'])
  const points = many.map((at) => ({ kind: 'wake' as const, label: 'resumed', at }))
  expect(mergedPoints(points, 50)).toHaveLength(1_000)
  expect(mergedSpans(spans.slice(0, 3), 1)).toEqual(spans.slice(0, 3))
})
