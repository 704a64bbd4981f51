// A test of an agent, with a clock that it moves itself: node --test examples/nightly-digest.test.mjs
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testEngine } from 'lull/testing'
import { digest } from './nightly-digest.mjs'

test('a digest is made once every night, also after a crash', async () => {
  const nights = await testEngine({ agents: [digest], startAt: Date.UTC(2026, 2, 27, 12) })
  await nights.advance('1 day')
  await nights.crash()
  // The clocks change in this night.
  await nights.advance('2 days')
  const { tasks } = await nights.engine.list(nights.caller)
  const times = tasks.map((task) => task.metadata.schedule.time).sort()
  assert.deepEqual(times, [
    '2026-03-28T02:00:00.000Z',
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T01:00:00.000Z',
  ])
  for (const { id } of tasks) await nights.replay(id)
  await nights.close()
})
