import { expect, it } from 'vitest'
import type { Task } from '../../core/task.ts'
import type { Engine } from '../../engine/engine.ts'
import { createHarness, olga, running } from '../../engine/test-support/engine-harness.ts'
import type { Overview } from '../../wire/ops/server.ts'
import { showOverview, spansOf, waitsForOf } from './overview.ts'

const HOUR = 3_600_000
const row = { id: 'a', agent: 'x', held: false, waits: [] as string[] }

it('counts starts and ends in the part of the time in which they were', () => {
  const until = 24 * HOUR
  const spans = spansOf(
    [
      { ...row, state: 'completed', createdAt: 30 * 60_000, statusAt: 5 * HOUR },
      { ...row, state: 'rejected', createdAt: -HOUR, statusAt: 5 * HOUR + 1 },
      { ...row, state: 'canceled', createdAt: 23 * HOUR, statusAt: until },
      { ...row, state: 'working', createdAt: 23 * HOUR, statusAt: 23 * HOUR },
    ],
    0,
    until,
  )
  expect(spans).toHaveLength(24)
  expect([spans[0]?.started, spans[23]?.started]).toEqual([1, 2])
  expect(spans[5]).toMatchObject({ completed: 1, failed: 1, canceled: 0 })
  expect(spans[23]).toMatchObject({ canceled: 1 })
})

it('groups stopped tasks by the type of the event, by time, or by neither', () => {
  const state = 'paused-by-agent' as const
  const at = { createdAt: 0, statusAt: 0 }
  const found = waitsForOf([
    { ...row, ...at, state, waits: ['ci.build.completed:1'] },
    { ...row, ...at, state, waits: ['ci.build.completed:2'], dueAt: 5 },
    { ...row, ...at, state, dueAt: 5 },
    { ...row, ...at, state },
  ])
  expect(found).toEqual([
    { name: 'ci.build.completed', tasks: 2 },
    { name: 'a time or a schedule', tasks: 1 },
    { name: 'only a resume', tasks: 1 },
  ])
})

it('says who is waited for and for how long, what comes next, what failed, and what was spent', async () => {
  const agents = [
    running(async (task) => {
      await task.usage({ inputTokens: 10, outputTokens: 5, costUsd: 0.25 })
      if (task.text === 'ask') await task.ask('who?')
      if (task.text === 'park') await task.park({ reason: 'x', timeout: { durationMinutes: 120 } })
      if (task.text === 'fail') throw new Error('the ledger answered 502')
    }),
  ]
  const harness = await createHarness({ agents })
  const asked = await harness.send('ask')
  await harness.until(asked.id, 'input-required')
  harness.clock.advance(20 * 60_000)
  const parked = await harness.send('park')
  await harness.until(parked.id, 'paused-by-agent')
  await harness.until((await harness.send('fail')).id, 'failed')
  await harness.until((await harness.send('go')).id, 'completed')
  const request = {
    ...{ id: '', query: new URLSearchParams(), body: undefined, anyTenant: false },
    ...{ scopes: new Set<never>(), now: harness.clock.now() },
  }
  const found = (await showOverview.handle(harness.engine, olga, request)) as Overview
  expect(found.counts).toMatchObject({ 'input-required': 1, failed: 1, completed: 1 })
  expect(found.asking.waits).toEqual([0, 1, 0, 0, 0, 0])
  expect(found.asking.oldest.map(({ taskId }) => taskId)).toEqual([asked.id])
  expect(found.wakes.map(({ taskId }) => taskId)).toEqual([parked.id])
  expect(found.agents).toMatchObject([{ tasks: 4, costUsd: 1, tokens: 60 }])
  expect(found.failures).toMatchObject([{ text: 'the ledger answered 502', tasks: 1 }])
  expect(found.spans.reduce((sum, { started }) => sum + started, 0)).toBe(4)
  // Another tenant has nothing of it.
  const other = { ...olga, tenant: 'other' }
  const theirs = (await showOverview.handle(harness.engine, other, request)) as Overview
  expect([theirs.counts, theirs.asking.oldest, theirs.agents]).toEqual([{}, [], []])
})

it('O1: reads at most 20,000 rows for each count and loads at most 500 tasks, and says that there are more', async () => {
  const { engine, send, ended } = await createHarness()
  const task = await ended((await send('go')).id)
  const [row] = await engine.rows(olga, {}, 1)
  if (row === undefined) throw new Error('no row')
  const asked: number[] = []
  const endless: Engine = {
    ...engine,
    rows: async (_caller, _filter, most) => {
      asked.push(most)
      return new Array<typeof row>(most).fill(row)
    },
    list: async (_caller, { limit = 1 } = {}) => ({
      tasks: new Array<Task>(limit).fill(task),
      total: 1e6,
      cursor: 'more',
    }),
  }
  const request = {
    ...{ id: '', query: new URLSearchParams(), body: undefined, anyTenant: false },
    ...{ scopes: new Set<never>(), now: 2 * HOUR },
  }
  const found = (await showOverview.handle(endless, olga, request)) as Overview
  expect(asked).toEqual([20_000, 20_000, 20_000])
  expect([found.read, found.isCut]).toEqual([500, true])
})
