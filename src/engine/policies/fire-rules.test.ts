import { describe, expect, it } from 'vitest'
import { RESERVED_MS } from '../../ports/store/cluster.ts'
import type { Hold } from '../../ports/store/holds.ts'
import type { Store } from '../../ports/store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { Caller } from '../caller.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import {
  createHarness,
  type Harness,
  type HarnessOptions,
  olga,
  running,
  signal,
} from '../test-support/engine-harness.ts'

type Signal = ReturnType<typeof signal<void>>

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const onIncident = { onEvent: 'incident', scope: { tenant: 'acme' }, reason: 'incident' } as const

/** Does what its message says: parks, asks, or works until it is stopped. */
const mixed = running(
  async (task) => {
    if (task.text === 'park') await task.park({ reason: 'waits', onEvent: 'go' })
    else if (task.text === 'ask') await task.ask('Which one?')
    else await task.step('long', ({ signal: aborted }) => untilAborted(aborted))
    return 'done'
  },
  { concurrency: 100 },
)

function untilAborted(aborted: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    aborted.addEventListener('abort', () => reject(new Error('aborted')))
  })
}

const states = { park: 'paused-by-agent', ask: 'input-required', work: 'working' } as const

async function fleet(harness: Harness): Promise<readonly string[]> {
  const kinds = Object.keys(states) as (keyof typeof states)[]
  const sent = await Promise.all(
    Array.from({ length: 30 }, async (_, n) => {
      const kind = kinds[n % 3] ?? 'work'
      const { id } = await harness.send(kind)
      await harness.until(id, states[kind])
      return id
    }),
  )
  return sent
}

const heldBy = async (harness: Harness, ids: readonly string[]) =>
  new Set((await Promise.all(ids.map((id) => harness.get(id)))).flatMap(({ holds }) => holds))

const statesOf = async (harness: Harness, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await harness.get(id)).state))

describe('a rule', () => {
  it('F1 F2: holds a mixed fleet once for an event, and the hold is lifted exactly', async () => {
    const harness = await createHarness({ agents: [mixed] })
    const rule = await harness.engine.addRule(root, onIncident)
    const ids = await fleet(harness)
    const before = await statesOf(harness, ids)
    await harness.emit('other')
    expect(await harness.engine.holds(root)).toEqual([])
    await harness.emit('incident', { id: 'one', source: 'pager' })
    await harness.settled()
    const [hold, ...more] = await harness.engine.holds(root)
    expect(more).toEqual([])
    expect(hold).toMatchObject({ actor: { kind: 'policy', id: rule.id }, reason: 'incident' })
    expect(await heldBy(harness, ids)).toEqual(new Set([hold?.id]))
    expect(await statesOf(harness, ids)).not.toContain('working')

    await harness.engine.lift(root, hold?.id ?? '')
    await harness.settled()
    expect(await statesOf(harness, ids)).toEqual(before)
    // The same event again is a duplicate, and fires nothing.
    await harness.emit('incident', { id: 'one', source: 'pager' })
    expect(await harness.engine.holds(root)).toEqual([])
    await harness.emit('incident', { id: 'two', source: 'pager' })
    expect(await harness.engine.holds(root)).toHaveLength(1)
  })

  it('F2: fires after a crash between the event and the hold', async () => {
    const shared = createMemoryStore()
    const { store, reached } = failingHolds(shared)
    const first = await createHarness({ agents: [mixed], store })
    await first.engine.addRule(root, onIncident)
    const ids = await fleet(first)
    void first.emit('incident').catch(() => undefined)
    await reached
    const second = await first.recover({ store: shared })
    await second.settled()
    const [hold] = await second.engine.holds(root)
    expect(await heldBy(second, ids)).toEqual(new Set([hold?.id]))
    await second.engine.lift(root, hold?.id ?? '')
    expect(await heldBy(second, ids)).toEqual(new Set())
  })

  it('F1: that was fired and lifted is not fired again when the event is dispatched again', async () => {
    const harness = await createHarness({ agents: [mixed] })
    await harness.engine.addRule(root, onIncident)
    await harness.emit('incident')
    const [hold] = await harness.engine.holds(root)
    await harness.engine.lift(root, hold?.id ?? '')
    // The cursor of dispatched events was not saved, so the next process dispatches the event again.
    const again = await harness.recover()
    await again.settled()
    expect(await again.engine.holds(root)).toEqual([])
  })

  it('F1: fires once in a cluster, whichever process gets the event', async () => {
    const cluster = createClusterHarness({ agents: [mixed] } satisfies HarnessOptions)
    const [one, two] = [await cluster.join(), await cluster.join()]
    await one.engine.addRule(root, onIncident)
    const { id } = await one.send('park')
    await one.until(id, 'paused-by-agent')
    await two.emit('incident')
    await cluster.settled()
    expect(await one.engine.holds(root)).toHaveLength(1)
    expect((await one.get(id)).holds).toHaveLength(1)
  })

  it.each([
    ['the same event', 'e1'],
    ['another event', 'e2'],
  ])(
    'H5: does not take back a lift that came while it decided, of the hold of %s',
    async (_, id) => {
      const decides = signal()
      const goes = signal()
      let connections = 0
      const cluster = createClusterHarness({
        agents: [mixed],
        connection: (store) => (++connections === 2 ? slowHolds(store, decides, goes) : store),
      })
      const [one, two] = [await cluster.join(), await cluster.join()]
      await one.engine.addRule(root, { ...onIncident, holdNew: true })
      const emitted = two.emit('incident', { id: 'e1', source: 'pager' })
      await decides.promise
      if (id === 'e1') {
        // The second process stands still and does not renew its reservation, so the first one dispatches the event, too.
        cluster.stop(two)
        await cluster.pass(RESERVED_MS + 1_000)
      } else await one.emit('incident', { id, source: 'pager' })
      let [hold] = await one.engine.holds(root)
      while (hold === undefined) {
        await cluster.pass(1_000)
        hold = (await one.engine.holds(root))[0]
      }
      await cluster.pass(1)
      await one.engine.lift(root, hold.id)
      goes.fire()
      cluster.goOn(two)
      await emitted
      await cluster.settled()
      expect(await one.engine.holds(root)).toEqual([])
      expect((await one.get((await two.send('park')).id)).holds).toEqual([])
    },
  )

  it('F4: has one hold, however many events fire it, and its lift frees the tasks', async () => {
    const harness = await createHarness({ agents: [mixed] })
    await harness.engine.addRule(root, { ...onIncident, holdNew: true })
    const { id } = await harness.send('park')
    await harness.until(id, 'paused-by-agent')
    const emit = (n: number) => harness.emit('incident', { id: `e${n}`, source: 'pager' })
    await Promise.all([1, 2, 3].map(emit))
    await emit(4)
    const [hold, ...more] = await harness.engine.holds(root)
    expect(more).toEqual([])
    expect((await harness.get(id)).holds).toEqual([hold?.id])
    harness.clock.advance(1)
    await harness.engine.lift(root, hold?.id ?? '')
    expect((await harness.get(id)).holds).toEqual([])
    // The lift answers all four events, also when they are dispatched again.
    const again = await harness.recover()
    await again.settled()
    expect(await again.engine.holds(root)).toEqual([])
    await again.emit('incident', { id: 'e5', source: 'pager' })
    expect(await again.engine.holds(root)).toHaveLength(1)
  })

  it('F5: on a budget is fired once for many tasks that find the share at the same time', async () => {
    const store = createMemoryStore()
    let written = 0
    let read = 0
    const counting = {
      ...store,
      holds(all?: boolean) {
        if (all) read++
        return store.holds(all)
      },
      putHold(hold: Hold) {
        written++
        return store.putHold(hold)
      },
    }
    const harness = await spendersUnderRule(counting, 50)
    await Promise.all(Array.from({ length: 50 }, (_, n) => harness.send(`${n}`)))
    await harness.settled()
    expect(await harness.engine.holds(root)).toHaveLength(1)
    expect({ written, read }).toEqual({ written: 1, read: 1 })
  })

  it('F5: that cannot be fired does not fail the operation that was checked, and is fired later', async () => {
    const store = createMemoryStore()
    let fails = true
    const failing = {
      ...store,
      async putHold(hold: Hold) {
        if (fails) throw new Error('broken')
        await store.putHold(hold)
      },
    }
    const harness = await spendersUnderRule(failing, 1)
    expect((await harness.ended((await harness.send('first')).id)).state).toBe('completed')
    expect(await harness.engine.holds(root)).toEqual([])
    fails = false
    const { id } = await harness.send('second')
    await harness.until(id, ({ holds }) => holds.length === 1)
    expect(await harness.engine.holds(root)).toHaveLength(1)
  })

  it('with a filter, holdNew and a mode places such a hold', async () => {
    const harness = await createHarness({ agents: [mixed] })
    await harness.engine.addRule(root, {
      filter: { prefix: { type: 'incident.' } },
      scope: { agent: 'worker' },
      mode: 'finish_step',
      holdNew: true,
      reason: 'careful',
    })
    const { id } = await harness.send('work')
    await harness.until(id, 'working')
    await harness.emit('incident.large')
    // With this mode the signal of the step does not fire, so the task waits for the end of the step.
    expect(await harness.get(id)).toMatchObject({
      state: 'working',
      pausing: { mode: 'finish_step', byHold: true },
    })
    const later = await harness.send('park')
    expect((await harness.get(later.id)).holds).toHaveLength(1)
  })

  it('F3: on a budget fires at its percentage, once for each period and allowance', async () => {
    const spender = running(async (task) => {
      await task.usage({ inputTokens: Number(task.text) })
    })
    const harness = await createHarness({ agents: [spender] })
    const set = { scope: { tenant: 'acme' }, measure: 'tokens', limit: 100 } as const
    const { budget } = await harness.engine.setBudget(root, set)
    await harness.engine.addRule(root, {
      budget: { id: budget.id, percent: 50 },
      scope: { tenant: 'acme' },
      reason: 'half of the budget',
    })
    await harness.ended((await harness.send('40')).id)
    expect(await harness.engine.holds(root)).toEqual([])
    const { id } = await harness.send('20')
    await harness.until(id, ({ holds }) => holds.length === 1)
    await harness.settled()
    const [hold] = await harness.engine.holds(root)
    expect(hold).toMatchObject({ reason: 'half of the budget' })
    await harness.engine.lift(root, hold?.id ?? '')
    await harness.ended((await harness.send('1')).id)
    expect(await harness.engine.holds(root)).toEqual([])
  })

  it('says in a dry run what it would have stopped in the last day, and stops nothing', async () => {
    const harness = await createHarness({ agents: [mixed] })
    await harness.emit('incident', { id: 'old' })
    await harness.pass(25 * 3_600_000)
    const parked = await harness.send('park')
    await harness.until(parked.id, 'paused-by-agent')
    await harness.pass(1_000)
    await harness.emit('incident', { id: 'new' })
    await harness.pass(1_000)
    await harness.engine.cancel(olga, { taskId: parked.id })
    await harness.send('park')
    expect(await harness.engine.dryRunRule(root, onIncident)).toMatchObject({
      fired: 1,
      firings: [{ cause: 'new', type: 'incident', tasks: 1 }],
      tasks: 1,
      sample: [parked.id],
    })
    expect(await harness.engine.rules(root)).toEqual([])
    expect(await harness.engine.holds(root)).toEqual([])
  })

  it('of a tenant hears the events of that tenant, and stops its tasks only', async () => {
    const harness = await createHarness({ agents: [mixed] })
    const eve: Caller = { tenant: 'evil', principal: 'eve', operator: true }
    const rule = await harness.engine.addRule(eve, { ...onIncident, scope: { all: true } })
    expect(rule).toMatchObject({ tenant: 'evil', scope: { tenant: 'evil' } })
    await harness.emit('incident')
    expect(await harness.engine.holds(root)).toEqual([])
    expect(await harness.engine.rules(olga)).toEqual([])
    await expect(harness.engine.removeRule(olga, rule.id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await harness.engine.removeRule(root, rule.id)
    expect(await harness.engine.rules(root)).toEqual([])
  })

  it('has exactly one cause', async () => {
    const { engine } = await createHarness({ agents: [mixed] })
    const { onEvent: _, ...none } = onIncident
    const both = { ...onIncident, filter: { exact: { type: 'a' } } } as const
    for (const request of [none, both]) {
      await expect(engine.addRule(root, request)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
    const unknown = { ...none, budget: { id: 'budget-x', percent: 50 } }
    await expect(engine.addRule(root, unknown)).rejects.toMatchObject({
      details: { path: 'budget.id' },
    })
  })
})

/** Tasks that use a token each, under a rule that fires at the first one. */
async function spendersUnderRule(store: Store, concurrency: number): Promise<Harness> {
  const spender = running(
    async (task) => {
      await task.step('first', () => 1)
      await task.usage({ inputTokens: 1 })
      await task.step('second', () => 2)
    },
    { concurrency },
  )
  const harness = await createHarness({ agents: [spender], store })
  const scope = { tenant: 'acme' }
  const { budget } = await harness.engine.setBudget(root, { scope, measure: 'tokens', limit: 100 })
  const when = { budget: { id: budget.id, percent: 1 } }
  await harness.engine.addRule(root, { ...when, scope, reason: 'first token' })
  return harness
}

/** A store that reads lifted holds late. */
function slowHolds(store: Store, reads: Signal, goes: Signal): Store {
  return {
    ...store,
    async holds(all) {
      const found = await store.holds(all)
      if (!all) return found
      reads.fire()
      await goes.promise
      return found
    },
  }
}

/** A store in which no hold is ever written, and that says when one was to be. */
function failingHolds(store: Store): { readonly store: Store; readonly reached: Promise<void> } {
  const { promise, fire } = signal()
  return {
    reached: promise,
    store: {
      ...store,
      putHold() {
        fire()
        return new Promise(() => undefined)
      },
    },
  }
}
