/** A hold of many tasks in all states, twice in a row (H2, H4 in holds.ts). */
import { expect, it } from 'vitest'
import type { TaskRow } from '../ports/store/tasks.ts'
import type { Caller } from './caller.ts'
import { createHarness, type Harness, running } from './test-support/engine-harness.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const TASKS = 2_000
const kinds = ['park', 'ask', 'work'] as const

/** Does what its message says. Of the tasks that work, a hundred have a slot, and the others wait for one. */
const mixed = running(
  async (task) => {
    if (task.text === 'park') await task.park({ reason: 'waits' })
    else if (task.text === 'ask') await task.ask('Which one?')
    else await task.step('long', ({ signal }) => untilAborted(signal))
  },
  { concurrency: 100 },
)

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')))
  })
}

async function rowsOf({ store }: Harness): Promise<readonly TaskRow[]> {
  const rows: TaskRow[] = []
  for (;;) {
    const last = rows.at(-1)
    const page = await store.openTasks({
      limit: 1_000,
      ...(last === undefined ? {} : { after: last }),
    })
    rows.push(...page)
    if (page.length < 1_000) return rows
  }
}

/** Slots change hands while tasks are stopped, so tasks with a slot and tasks without one count as one kind. */
function countsOf(rows: readonly TaskRow[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { state, held } of rows) {
    const name = state === 'submitted' ? 'working' : state
    const key = held ? `held ${name}` : name
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

it('H2 H4: holds 2,000 tasks in all states and lifts exactly that, twice', {
  timeout: 120_000,
}, async () => {
  const harness = await createHarness({ agents: [mixed] })
  const kindOf = (n: number): string => kinds[n % kinds.length] ?? 'work'
  await Promise.all(Array.from({ length: TASKS }, (_, n) => harness.send(kindOf(n))))
  await harness.settled()
  const before = countsOf(await rowsOf(harness))
  expect(Object.keys(before).sort()).toEqual(['input-required', 'paused-by-agent', 'working'])
  for (const reason of ['first', 'second']) {
    const { holdId, outcomes } = await harness.engine.hold(root, { scope: { all: true }, reason })
    expect(outcomes).toHaveLength(TASKS)
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['held']))
    await harness.settled()
    const rows = await rowsOf(harness)
    expect(rows.every(({ held, owner }) => held && owner === undefined)).toBe(true)
    expect(await harness.engine.lift(root, holdId)).toEqual({ holdId, tasks: TASKS })
    await harness.settled()
    expect(countsOf(await rowsOf(harness))).toEqual(before)
  }
})
