/** A hold of many tasks in all states: twice in a row, by a rule, and across a crash (H1, H2, H4 in holds.ts). */
import { expect, it } from 'vitest'
import type { Commit, TaskRow } from '../../ports/store/tasks.ts'
import type { Store } from '../../ports/store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { Caller } from '../caller.ts'
import { createHarness, type Harness, running, signal } from '../test-support/engine-harness.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
/** Fewer where every call of the store waits. */
const TASKS = process.env['LULL_TEST_STORE'] === 'delaying' ? 1_000 : 10_000
const kinds = ['park', 'ask', 'work'] as const

let steps = 0

/** Does what its message says. Of the tasks that work, a hundred have a slot, and the others wait for one. */
const mixed = running(
  async (task) => {
    if (task.text === 'park') await task.park({ reason: 'waits' })
    else if (task.text === 'ask') await task.ask('Which one?')
    else {
      await task.step('long', ({ signal: aborted }) => {
        steps++
        return untilAborted(aborted)
      })
    }
  },
  { concurrency: 100 },
)

function untilAborted(aborted: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    aborted.addEventListener('abort', () => reject(new Error('aborted')))
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

/** Every task is held by this hold alone, and no run has it. */
async function expectHeld(harness: Harness, holdId: string): Promise<void> {
  await harness.settled()
  const rows = await rowsOf(harness)
  expect(rows).toHaveLength(TASKS)
  expect(rows.every(({ held, owner }) => held && owner === undefined)).toBe(true)
  const sample = rows.filter((_, n) => n % 500 === 0)
  for (const { id } of sample) expect((await harness.get(id)).holds).toEqual([holdId])
  const begun = steps
  await harness.pass(60_000)
  expect(steps).toBe(begun)
}

/** The hold is lifted from every task, and those that waited for somebody still do. */
async function expectLifted(
  harness: Harness,
  holdId: string,
  stopped: ReadonlyMap<string, string>,
): Promise<void> {
  expect(await harness.engine.lift(root, holdId)).toEqual({ holdId, tasks: TASKS })
  await harness.settled()
  const rows = await rowsOf(harness)
  expect(rows.filter(({ held }) => held)).toEqual([])
  // Others stopped meanwhile, because slots changed hands.
  const now = stoppedIn(rows)
  expect([...stopped].filter(([id, state]) => now.get(id) !== state)).toEqual([])
}

/** A store whose process dies after the first commits with held tasks, while the `dies` is set. */
function dyingStore(store: Store): { readonly store: Store; dies: (() => void) | undefined } {
  const dying = {
    dies: undefined as (() => void) | undefined,
    store: {
      ...store,
      async commit(batch: readonly Commit[]) {
        const results = await store.commit(batch)
        if (batch.some(({ records }) => records.some(({ type }) => type === 'held'))) dying.dies?.()
        return results
      },
    },
  }
  return dying
}

it(`H1 H2 H4: holds ${TASKS} tasks in all states exactly: twice, by a rule, and across a crash`, {
  timeout: 240_000,
}, async () => {
  const memory = createMemoryStore()
  const dying = dyingStore(memory)
  const first = await createHarness({ agents: [mixed], store: dying.store })
  await first.engine.addRule(root, {
    onEvent: 'incident',
    scope: { all: true },
    reason: 'incident',
  })
  const kindOf = (n: number): string => kinds[n % kinds.length] ?? 'work'
  await Promise.all(Array.from({ length: TASKS }, (_, n) => first.send(kindOf(n))))
  await first.settled()
  const before = await rowsOf(first)
  expect(new Set(before.map(({ state }) => state))).toEqual(
    new Set(['input-required', 'paused-by-agent', 'submitted', 'working']),
  )
  const stopped = stoppedIn(before)

  const everything = { scope: { all: true }, reason: 'panic' } as const
  const { holdId, outcomes } = await first.engine.hold(root, everything)
  expect(outcomes).toHaveLength(TASKS)
  expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['held']))
  await expectHeld(first, holdId)
  await expectLifted(first, holdId, stopped)

  const died = signal()
  dying.dies = () => {
    first.crash()
    died.fire()
  }
  first.emit('incident').catch(() => undefined)
  await died.promise
  const second = await first.recover({ store: memory })
  const [byRule, ...more] = await second.engine.holds(root)
  expect(more).toEqual([])
  expect(byRule).toMatchObject({ reason: 'incident', actor: { kind: 'policy' } })
  await expectHeld(second, byRule?.id ?? '')
  await expectLifted(second, byRule?.id ?? '', stopped)
})
