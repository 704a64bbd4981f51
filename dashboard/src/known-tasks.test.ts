import { expect, it } from 'vitest'
import type { TaskSummary } from '../../src/wire/ops/tasks.ts'
import { MOST_KNOWN, merged, newestFirst, pruned, withHits } from './known-tasks.ts'

function task(number: number, facts: Partial<TaskSummary> = {}): TaskSummary {
  const since = new Date(number * 1_000).toISOString()
  return {
    taskId: `t${number}`,
    tenant: 'default',
    principal: 'p',
    agent: 'a',
    contextId: 'c',
    state: number % 2 === 0 ? 'completed' : 'working',
    version: 1,
    createdAt: since,
    since,
    title: '',
    says: '',
    turn: 0,
    pausing: false,
    held: false,
    usage: {},
    ...facts,
  }
}

it('T1: an older summary does not replace a newer one', () => {
  const known = merged(new Map(), [task(1, { version: 2, says: 'new' })], 0)
  expect(merged(known, [task(1, { version: 1, says: 'old' })], 0).get('t1')?.says).toBe('new')
  expect(merged(known, [task(1, { version: 2, says: 'again' })], 0).get('t1')?.says).toBe('again')
})

it('counts down on the clock of the page', () => {
  const known = merged(new Map(), [task(1, { remainingMs: 500 })], 1_000)
  expect(known.get('t1')?.dueOnPage).toBe(1_500)
})

it('T3: keeps a bounded number of tasks while 100,000 change, the newest and the one that is shown', () => {
  let known: ReturnType<typeof merged> = new Map()
  let most = 0
  for (let number = 0; number < 100_000; number += 200) {
    const changed = Array.from({ length: 200 }, (_, index) => task(number + index))
    known = pruned(merged(known, changed, 0), 't7')
    most = Math.max(most, known.size)
  }
  expect(most).toBeLessThanOrEqual(MOST_KNOWN)
  expect(known.has('t7')).toBe(true)
  expect(newestFirst(known)[0]?.taskId).toBe('t99999')
})

it('shows what a search found beside what is known, and of each task the newer summary', () => {
  const old = Array.from({ length: 100 }, (_, index) => task(index, { state: 'completed' }))
  const hits = merged(new Map(), old, 0)
  const news = Array.from({ length: 2_000 }, (_, index) => task(1_000 + index))
  const known = pruned(merged(new Map(), [...news, task(7, { version: 2, says: 'new' })], 0), 't7')
  const shown = withHits(newestFirst(known), hits)
  expect(shown.filter(({ taskId }) => hits.has(taskId))).toHaveLength(100)
  expect(shown.find(({ taskId }) => taskId === 't7')?.says).toBe('new')
})
