import { expect, it } from 'vitest'
import type { TaskSummary, TimelineEntry } from '../../client/index.ts'
import { taskBlock, viewOfSummary } from './watch-task.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const at = (ms: number) => new Date(now + ms).toISOString()
const bare = (_: unknown, text: string) => text

const parked: TaskSummary = {
  taskId: 't1',
  tenant: 'default',
  principal: 'me',
  agent: 'builder',
  contextId: 'c1',
  state: 'paused-by-agent',
  version: 7,
  createdAt: at(-60_000),
  since: at(-5_000),
  title: 'Run build 51',
  says: 'Parked: build. Wakes on ci.build.completed:51, or in 10 min (then it fails)',
  turn: 2,
  pausing: false,
  held: false,
  stop: {
    handle: 'suspend-1',
    initiator: 'agent',
    actor: { kind: 'agent', id: 'builder' },
    reason: 'build\u001b[2J',
    conditions: {
      onEvent: 'ci.build.completed:51',
      timeout: { durationMinutes: 10, onTimeout: 'fail' },
    },
    wakes: 'on ci.build.completed:51, or in 10 min (then it fails)',
    deadlineAt: at(595_000),
  },
  dueAt: at(595_000),
  remainingMs: 595_000,
  usage: {},
}

const step: TimelineEntry = {
  seq: 5,
  at: at(-6_000),
  kind: 'step',
  event: 'attempt',
  name: 'compile',
  attempt: 2,
  outcome: 'failed',
  text: 'disk full',
}

it('says state, turn, step, wait with countdown and reason, without control characters', () => {
  expect(taskBlock(viewOfSummary(parked, now), step, '', now + 1_000, bare)).toEqual([
    'paused-by-agent  builder  turn 2  for 6 s',
    '  step   compile, attempt 2 failed: disk full (7 s ago)',
    '  why    build[2J',
    '  wakes  on ci.build.completed:51, or in 9 min 54 s (then it fails)',
  ])
})

it('counts by the clock of the server', () => {
  const late = now - 3_600_000
  expect(taskBlock(viewOfSummary(parked, late), undefined, '', late, bare)).toContain(
    '  wakes  on ci.build.completed:51, or in 9 min 55 s (then it fails)',
  )
})

it('shows progress, and the text that is being written rather than the last message', () => {
  const { stop: _, dueAt: _d, remainingMs: _r, ...rest } = parked
  const working = { ...rest, state: 'working', says: 'Reading', progress: 0.4 }
  const view = viewOfSummary(working, now)
  expect(taskBlock(view, undefined, '', now, bare)).toEqual([
    'working  builder  turn 2  for 5 s  ████████░░░░░░░░░░░░ 40 %',
    '  says   Reading',
  ])
  expect(taskBlock(view, undefined, 'Once upon', now, bare)[1]).toBe('  says   Once upon')
})
