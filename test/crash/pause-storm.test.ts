/**
 * A thousand tasks, twenty thousand calls from fifty clients to a server that is killed again and again: no illegal
 * transition, no lost task, one log that everything agrees with, and no answer that was not true. What is done is decided
 * by a seed; how it falls together is not, so that every run is another storm.
 */
import { expect, it } from 'vitest'
import { judge } from './storm/judge.ts'
import { createPlan } from './storm/plan.ts'
import { rage } from './storm/storm.ts'

const TASKS = 1_000
const CALLS = 20_000

it('1,000 tasks, 20,000 calls, 50 clients, four deaths', async () => {
  const aftermath = await rage({
    plan: createPlan(1, TASKS),
    tasks: TASKS,
    calls: CALLS,
    clients: 50,
    kills: [3_000, 8_000, 13_000, 18_000],
  })
  expect(aftermath.attempts.length).toBeGreaterThanOrEqual(CALLS)
  const unanswered = aftermath.attempts.filter(({ answer }) => answer === undefined)
  expect(unanswered.length).toBeGreaterThan(0)
  expect(new Set(aftermath.taskIds).size).toBe(TASKS)
  expect(aftermath.overslept).toEqual([])
  expect([...aftermath.shown.keys()].sort()).toEqual([...aftermath.taskIds].sort())

  const { faults, records } = await judge(aftermath)
  expect(faults).toEqual([])
  // It was a storm: everything that can happen to a task happened to many.
  for (const [type, least] of [
    ['paused', 1_000],
    ['pause-withdrawn', 10],
    ['parked', 300],
    ['resumed', 1_000],
    ['answered', 100],
    ['message', 100],
    ['canceled', 100],
    ['completed', 200],
  ] as const) {
    expect(records.get(type), type).toBeGreaterThan(least)
  }
})
