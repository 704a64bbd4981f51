import { expect, it } from 'vitest'
import { createMeter, textOf } from './meter.ts'

it('shows counters from the start, and adds up', () => {
  const meter = createMeter()
  expect(textOf(meter.families())).toContain(
    '# HELP lull_commits_total Commits handed to the store\n# TYPE lull_commits_total counter\nlull_commits_total 0\n',
  )
  meter.add('lull_commits_total', 3)
  meter.add('lull_commits_total')
  expect(textOf(meter.families())).toContain('\nlull_commits_total 4\n')
})

it('counts a time in every bucket that is large enough', () => {
  const meter = createMeter()
  meter.observe('lull_commit_seconds', 20)
  meter.observe('lull_commit_seconds', 300_000)
  const text = textOf(meter.families())
  expect(text).toContain('lull_commit_seconds_bucket{le="0.005"} 0\n')
  expect(text).toContain('lull_commit_seconds_bucket{le="0.025"} 1\n')
  expect(text).toContain('lull_commit_seconds_bucket{le="60"} 1\n')
  expect(text).toContain('lull_commit_seconds_bucket{le="+Inf"} 2\n')
  expect(text).toContain('lull_commit_seconds_sum 300.02\nlull_commit_seconds_count 2\n')
})

it('keeps the number of label values bounded, and escapes them', () => {
  const meter = createMeter()
  meter.add('lull_requests_refused_total', 1, 'a"b\\c\nd')
  for (let i = 0; i < 1_000; i++) meter.add('lull_requests_refused_total', 1, `why-${i}`)
  const lines = textOf(meter.families())
    .split('\n')
    .filter((line) => line.startsWith('lull_requests_refused_total{'))
  expect(lines).toHaveLength(51)
  expect(lines[0]).toBe('lull_requests_refused_total{why="a\\"b\\\\c\\nd"} 1')
  expect(lines.at(-1)).toBe('lull_requests_refused_total{why="other"} 951')
})
