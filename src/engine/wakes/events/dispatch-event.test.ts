import { expect, it } from 'vitest'
import type { StoredEvent } from '../../../core/waiting/cloud-event.ts'
import { FILTER_NAMES } from '../../../core/waiting/conditions.ts'
import { createDispatchEvent } from './dispatch-event.ts'

const TASKS = 2_000
const EVENTS = 50

const eventOf = (tenant: string, pos: number): StoredEvent => ({
  pos,
  tenant,
  receivedAt: 0,
  event: { id: `${pos}`, source: 's', type: 'tick' },
})

const manyTasks = Array.from({ length: TASKS }, (_, n) => `a-${String(n).padStart(5, '0')}`)
const manyFilters = Array.from(
  { length: TASKS },
  (_, n) => `${FILTER_NAMES}{"exact":{"subject":"${String(n).padStart(5, '0')}"}}`,
)
const after = (list: readonly string[], from: string, limit: number): readonly string[] =>
  list.filter((one) => one > from).slice(0, limit)

/** Lets every turn pass in which something can still start. */
async function untilSteady(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); ) {
    before = count()
    for (let turn = 0; turn < 20; turn++) await new Promise((go) => setImmediate(go))
  }
}

it('D1: a tenant whose tasks take long to wake keeps no other tenant waiting', async () => {
  const open: string[] = []
  let release: () => void = () => undefined
  const stuck = new Promise<void>((resolve) => {
    release = resolve
  })
  const store = {
    waiting: async (tenant: string, _names: readonly string[], from: string, limit: number) =>
      after(tenant === 'a' ? manyTasks : ['b-1'], from, limit),
    waitNames: async () => [],
  }
  let woken = 0
  const dispatch = createDispatchEvent(store, { learn: () => undefined }, async (taskId) => {
    if (taskId.startsWith('b')) return
    open.push(taskId)
    await stuck
    woken++
  })
  const ofA = Array.from({ length: EVENTS }, (_, pos) => dispatch(eventOf('a', pos + 1)))
  await untilSteady(() => open.length)
  await dispatch(eventOf('b', EVENTS + 1))
  // Without shares all events of the tenant would be offered at once: 50 times 256.
  expect(open).toHaveLength(256)
  release()
  await Promise.all(ofA)
  expect(woken).toBe(EVENTS * TASKS)
})

it('D1: a tenant with many filters does not fill a turn of the event loop', async () => {
  let turn = 0
  const pagesIn = new Map<number, number>()
  const store = {
    waiting: async () => [],
    async waitNames(tenant: string, _prefix: string, from: string, limit: number) {
      if (tenant === 'a') pagesIn.set(turn, (pagesIn.get(turn) ?? 0) + 1)
      return tenant === 'a' ? after(manyFilters, from, limit) : []
    },
  }
  const dispatch = createDispatchEvent(store, { learn: () => undefined }, async () => undefined)
  let isOver = false
  const ofA = Promise.all(
    Array.from({ length: EVENTS * 4 }, (_, pos) => dispatch(eventOf('a', pos + 1))),
  ).then(() => {
    isOver = true
  })
  const turnOfB = dispatch(eventOf('b', 1_000)).then(() => turn)
  for (; !isOver; turn++) await new Promise((go) => setImmediate(go))
  await ofA
  // Without shares each of the 200 events would be compared with 256 filters in the first turn.
  expect(Math.max(...pagesIn.values())).toBeLessThanOrEqual(32)
  expect(await turnOfB).toBe(0)
})
