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

/** The tasks that wait for somebody, with their states. The others change while slots change hands. */
function stoppedIn(rows: readonly TaskRow[]): ReadonlyMap<string, string> {
  const stopped = rows.filter(
    ({ state }) => state === 'paused-by-agent' || state === 'input-required',
  )
  return new Map(stopped.map(({ id, state }) => [id, state]))
}

it('H2 H4: holds 2,000 tasks in all states and lifts exactly that, twice', {
  timeout: 120_000,
}, async () => {
  const harness = await createHarness({ agents: [mixed] })
  const kindOf = (n: number): string => kinds[n % kinds.length] ?? 'work'
  await Promise.all(Array.from({ length: TASKS }, (_, n) => harness.send(kindOf(n))))
  await harness.settled()
  const before = await rowsOf(harness)
  expect(new Set(before.map(({ state }) => state))).toEqual(
    new Set(['input-required', 'paused-by-agent', 'submitted', 'working']),
  )
  const stopped = stoppedIn(before)
  for (const reason of ['first', 'second']) {
    const { holdId, outcomes } = await harness.engine.hold(root, { scope: { all: true }, reason })
    expect(outcomes).toHaveLength(TASKS)
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['held']))
    await harness.settled()
    const rows = await rowsOf(harness)
    expect(rows.every(({ held, owner }) => held && owner === undefined)).toBe(true)
    expect(await harness.engine.lift(root, holdId)).toEqual({ holdId, tasks: TASKS })
    await harness.settled()
    const after = await rowsOf(harness)
    expect(after.filter(({ held }) => held)).toEqual([])
    const stillStopped = stoppedIn(after)
    for (const [id, state] of stopped) expect(stillStopped.get(id)).toBe(state)
  }
})
