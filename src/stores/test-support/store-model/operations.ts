/** Operations on a store as data, and how each runs on the store and on the model. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { type State, states } from '../../../core/states.ts'
import type { Commit, TaskRow } from '../../../ports/store/tasks.ts'
import type { Store } from '../../../ports/store.ts'
import {
  poison,
  sampleClaim,
  sampleEvent,
  sampleRecords,
  sampleRow,
  sampleSnapshot,
} from '../../../testing/sample-task.ts'
import { appendDispatched, pruneTasks } from '../../../testing/store-contract/subject.ts'
import { agents, ids, type Model, names, tenantOf, tenants } from './model.ts'

export type Operation =
  | { readonly type: 'reopen' }
  | { readonly type: 'commit'; readonly plans: readonly Plan[] }
  | { readonly type: 'append'; readonly tenant: string; readonly event: Event; readonly at: number }
  | { readonly type: 'prune'; readonly at: number }

interface Plan {
  readonly id: string
  /** Added to the right version. */
  readonly off: number
  readonly records: number
  readonly row: Partial<{ readonly [K in keyof TaskRow]: TaskRow[K] | undefined }> | undefined
  readonly snapshot: boolean
  readonly anchor: boolean
  readonly claim: boolean
  readonly poison: boolean
}

type Event = ReturnType<typeof sampleEvent>

const maybeInstant = fc.oneof(fc.constant(undefined), fc.nat(3))

const plan: fc.Arbitrary<Plan> = fc.record({
  id: fc.constantFrom(...ids),
  off: fc.constantFrom(0, 0, 0, 0, -1, 1),
  records: fc.constantFrom(1, 2, 3),
  row: fc.oneof(
    fc.constant(undefined),
    fc.record({
      state: fc.constantFrom<State[]>(...states),
      statusAt: fc.nat(3),
      readyAt: maybeInstant,
      dueAt: maybeInstant,
      owner: fc.constantFrom(undefined, 'w1', 'w2'),
      held: fc.boolean(),
      waits: fc.array(fc.constantFrom(...names), { maxLength: 3 }),
    }),
  ),
  snapshot: fc.boolean(),
  anchor: fc.boolean(),
  claim: fc.boolean(),
  poison: fc.constantFrom(false, false, false, false, true),
})

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('commit' as const),
      plans: fc.array(plan, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('append' as const),
      tenant: fc.constantFrom(...tenants),
      event: fc
        .record({
          id: fc.constantFrom('1', '2', '3'),
          type: fc.constantFrom('a', 'b'),
          subject: fc.constantFrom({}, { subject: '1' }),
        })
        .map(({ id, type, subject }) => sampleEvent(id, { type, ...subject })),
      at: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('prune' as const), at: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.constant<Operation>({ type: 'reopen' }) },
)

export async function carryOut(
  one: Exclude<Operation, { type: 'reopen' }>,
  store: Store,
  model: Model,
): Promise<void> {
  if (one.type === 'append') {
    const [appended] = await appendDispatched(store, one.tenant, [one.event], one.at)
    expect(appended?.fresh).toBe(model.append(one.tenant, one.event, one.at))
  } else if (one.type === 'prune') {
    expect(await pruneTasks(store, one.at)).toBe(model.pruneTasks(one.at))
    expect(await store.pruneEvents(one.at, 99)).toBe(model.pruneEvents(one.at))
  } else {
    // The model runs first, one commit at a time, because each commit expects the version of the commits before it.
    const batch: Commit[] = []
    const expected = one.plans.map((each) => {
      const commit = toCommit(each, model.version(each.id))
      batch.push(commit)
      return each.poison ? 'failed' : model.commit(commit)
    })
    expect((await store.commit(batch)).map((result) => result.status)).toEqual(expected)
  }
}

function toCommit(each: Plan, version: number): Commit {
  const { id, records, row = {} } = each
  const expected = Math.max(0, version + each.off)
  const tenant = tenantOf(id)
  if (each.poison) return { ...poison(id, expected), tenant }
  // These columns never change, so they depend on the id alone.
  const fixed = { tenant, agent: agents[ids.indexOf(id) % 2] ?? '' }
  const set = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))
  const texts = Array.from({ length: records }, (_, n) => `record ${expected + n + 1}`)
  return {
    tenant,
    taskId: id,
    expected,
    records: sampleRecords(expected, ...texts),
    ...(each.row || expected === 0 ? { row: sampleRow(id, { ...fixed, ...set }) } : {}),
    ...(each.anchor ? { anchor: `${expected + records} head key sign` } : {}),
    ...(each.snapshot ? { snapshot: sampleSnapshot(id, expected + records) } : {}),
    ...(each.claim && expected === 0 ? { claim: sampleClaim(id, { tenant }) } : {}),
  }
}
