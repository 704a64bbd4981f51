import { describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { Caller } from '../caller.ts'
import { operatorVerbs, verbs } from '../requests/verbs.ts'
import {
  alice,
  bob,
  createHarness,
  message,
  olga,
  running,
} from '../test-support/engine-harness.ts'
import {
  callOperatorVerb,
  callVerb,
  operatorVerbNames,
  verbNames,
} from '../test-support/verb-samples.ts'

const everywhere: Caller = { tenant: '*', principal: 'root', operator: true }

async function parked() {
  const store = createMemoryStore()
  const harness = await createHarness({
    store,
    agents: [running((task) => task.park({ reason: 'x', onEvent: 'go' }).then(() => undefined))],
  })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  return { ...harness, store, id }
}

const has = (store: Store, entries: number) =>
  expect.poll(() => store.audit({ limit: 99 })).toHaveLength(entries)

const read = async ({ engine }: Awaited<ReturnType<typeof parked>>, caller = everywhere) =>
  (await engine.audit.read(caller, {})).map(({ id: _id, at: _at, ...rest }) => rest)

describe('the audit log', () => {
  it('A1: has each control of a task and each hold, with who did it, and shows a tenant its own', async () => {
    const harness = await parked()
    const { engine, id } = harness
    const keyed = { ...alice, credential: 'key-1' }
    await engine.remind(keyed, { taskId: id, reminder: { body: 'secret words' } })
    await engine.clearReminders(alice, { taskId: id })
    const { holdId } = await engine.hold(olga, { scope: { taskIds: [id] }, reason: 'secret why' })
    await engine.lift(olga, holdId)
    await engine.resume(alice, { taskId: id, input: 'secret input' })
    const { principal, tenant } = alice
    const of = { tenant, principal, taskId: id, outcome: 'done' }
    const ops = { tenant: olga.tenant, principal: olga.principal, operator: true, outcome: 'done' }
    expect(await read(harness)).toEqual([
      { ...of, credential: 'key-1', action: 'task.remind' },
      { ...of, action: 'task.clear-reminders' },
      { ...ops, action: 'hold.place', target: holdId },
      { ...ops, action: 'hold.lift', target: holdId },
      { ...of, action: 'task.resume' },
    ])
    expect(await read(harness, { ...olga, tenant: 'other' })).toEqual([])
  })

  it.each(verbNames)('has the attempt of a stranger to %s, under its name', async (verb) => {
    const harness = await parked()
    await callVerb(harness.engine, verb, bob, harness.id).catch(() => undefined)
    const { tenant, principal } = bob
    const { audited: action } = verbs[verb]
    const outcome = 'TASK_NOT_FOUND'
    expect(await read(harness)).toEqual([
      { tenant, principal, taskId: harness.id, action, outcome },
    ])
  })

  it.each(operatorVerbNames)(
    'has %s of an operator, and nothing of what only reads',
    async (name) => {
      const harness = await parked()
      const verb = operatorVerbs[name]
      await callOperatorVerb(harness.engine, name, olga).catch(() => undefined)
      const entries = await read(harness)
      expect(entries.map(({ action }) => action)).toEqual(
        verb.scope === 'ops:control' ? [verb.audited.action] : [],
      )
    },
  )

  it('A2: is written after a moment, in one piece, and when the engine stops', async () => {
    const harness = await parked()
    const { engine, store, clock, id } = harness
    await engine.remind(alice, { taskId: id, reminder: { body: 'a' } })
    await engine.remind(alice, { taskId: id, reminder: { body: 'b' } })
    expect(await store.audit({ limit: 9 })).toEqual([])
    clock.advance(100)
    await has(store, 2)
    await engine.cancel(alice, { taskId: id })
    await engine.drain()
    expect(await store.audit({ limit: 9 })).toHaveLength(3)
  })

  it('A3: lists the first 20 refusals of a caller in a minute, and counts the others', async () => {
    const harness = await parked()
    const { engine, clock } = harness
    for (let n = 0; n < 50; n++) {
      await engine.get(bob, `guess-${n}`).catch(() => undefined)
    }
    expect(await read(harness)).toHaveLength(20)
    clock.advance(60_000)
    const all = await read(harness)
    expect(all).toHaveLength(21)
    expect(all.at(-1)).toEqual({
      tenant: bob.tenant,
      principal: bob.principal,
      action: 'task.read',
      outcome: 'TASK_NOT_FOUND',
      further: 30,
    })
  })

  it('A4: has no content: no reason, no input, no message', async () => {
    const harness = await parked()
    const { engine, id } = harness
    await engine.remind(alice, { taskId: id, reminder: { body: 'canary' } })
    await engine.pause(alice, { taskId: id, reason: 'canary' }).catch(() => undefined)
    await engine.resume(alice, { taskId: id, input: 'canary' })
    await engine.send(bob, { message: message('canary', { taskId: id }) }).catch(() => undefined)
    const entries = await read(harness)
    expect(entries.length).toBeGreaterThan(3)
    expect(JSON.stringify(entries)).not.toContain('canary')
  })

  it("A5: has an attempt on another's task as one on a task that does not exist", async () => {
    const harness = await parked()
    const { engine, id } = harness
    for (const taskId of [id, 'nothing']) {
      await engine.get(bob, taskId).catch(() => undefined)
      await engine.pause(bob, { taskId }).catch(() => undefined)
      await engine.send(bob, { message: message('x', { taskId }) }).catch(() => undefined)
    }
    const plain = (await read(harness)).map((entry) => ({ ...entry, taskId: 'ID' }))
    expect(plain).toHaveLength(6)
    expect(plain.slice(3)).toEqual(plain.slice(0, 3))
    expect(plain.map(({ action }) => action).slice(0, 3)).toEqual([
      'task.read',
      'task.pause',
      'task.message',
    ])
  })

  it('has no entry of a plain send or read', async () => {
    const harness = await parked()
    await harness.engine.get(alice, harness.id)
    await harness.send('another')
    expect(await read(harness)).toEqual([])
  })

  it('loses nothing while the store does not answer', async () => {
    const store = createMemoryStore()
    let isDown = true
    let tries = 0
    const failing = {
      ...store,
      appendAudit: async (...args: Parameters<typeof store.appendAudit>) => {
        tries++
        if (isDown) throw new Error('down')
        return store.appendAudit(...args)
      },
    }
    const { engine, clock } = await createHarness({ store: failing, agents: [running(() => '')] })
    await engine.get(bob, 'nothing').catch(() => undefined)
    clock.advance(100)
    await expect.poll(() => tries).toBe(1)
    isDown = false
    const stored = () => {
      // The next try is planned when the store has refused, which may take a while.
      clock.advance(1_000)
      return store.audit({ limit: 99 })
    }
    await expect.poll(stored).toHaveLength(1)
  })
})
