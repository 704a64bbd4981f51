import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { Caller } from '../caller.ts'
import {
  alice,
  createHarness,
  effects,
  type Harness,
  type HarnessOptions,
  olga,
  running,
} from '../test-support/engine-harness.ts'
import { keywordAgent } from '../test-support/keyword-agent.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const everything = { scope: { all: true }, reason: 'panic' } as const

async function harness(some: HarnessOptions = {}): Promise<Harness> {
  return createHarness({ agents: [keywordAgent], ...some })
}

describe('who may hold', () => {
  it('is an operator, within the own tenant', async () => {
    const w = await harness()
    const { id } = await w.send('park')
    await w.until(id, 'paused-by-agent')
    await expect(w.engine.hold(alice, everything)).rejects.toMatchObject({ code: 'NOT_OFFERED' })
    const evil: Caller = { tenant: 'evil', principal: 'eve', operator: true }
    const theirs = await w.engine.hold(evil, { scope: { taskIds: [id] }, reason: 'x' })
    expect(theirs.outcomes).toEqual([{ taskId: id, outcome: 'unknown' }])
    expect((await w.engine.hold(evil, everything)).outcomes).toEqual([])
    const ours = await w.engine.hold(olga, everything)
    await expect(w.engine.lift(evil, ours.holdId)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('over task ids is told of nobody else, and cannot be lifted by another tenant', async () => {
    const w = await harness()
    const { id } = await w.send('park')
    await w.until(id, 'paused-by-agent')
    const { holdId } = await w.engine.hold(olga, { scope: { taskIds: [id] }, reason: 'x' })
    const evil: Caller = { tenant: 'evil', principal: 'eve', operator: true }
    expect(await w.engine.holds(evil)).toEqual([])
    await expect(w.engine.lift(evil, holdId)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await w.get(id)).holds).toEqual([holdId])
  })
})

describe('who may lift', () => {
  const rootInAcme: Caller = { ...root, tenant: 'acme', ofAllTenants: true }
  const evil: Caller = { tenant: 'evil', principal: 'eve', operator: true }
  const callers = { olga, evil, root, rootInAcme }
  const acme = { scope: { tenant: 'acme' }, reason: 'x' }

  const onEvent = { ...acme, onEvent: 'incident' }
  const fired = async (w: Harness, by: Caller): Promise<string> => {
    await w.engine.addRule(by, onEvent)
    await w.emit('incident')
    return (await w.engine.holds(by))[0]?.id ?? ''
  }
  const placed = async (w: Harness, by: Caller): Promise<string> =>
    (await w.engine.hold(by, acme)).holdId

  it.each([
    ['olga', placed, ['olga', 'root', 'rootInAcme']],
    ['root', placed, ['root', 'rootInAcme']],
    ['rootInAcme', placed, ['root', 'rootInAcme']],
    ['olga', fired, ['olga', 'root', 'rootInAcme']],
    ['root', fired, ['root', 'rootInAcme']],
    ['rootInAcme', fired, ['root', 'rootInAcme']],
  ] as const)('a hold of %s (%o): only %j', async (by, place, may) => {
    for (const [name, caller] of Object.entries(callers)) {
      const w = await harness()
      const { id } = await w.send('park')
      await w.until(id, 'paused-by-agent')
      const holdId = await place(w, callers[by])
      expect((await w.get(id)).holds).toEqual([holdId])
      const lifted = await w.engine.lift(caller, holdId).then(
        () => true,
        () => false,
      )
      expect([name, lifted]).toEqual([name, may.some((one) => one === name)])
      expect((await w.get(id)).holds).toEqual(lifted ? [] : [holdId])
    }
  })

  it('is not changed when the operator of the tenant asks for the same hold', async () => {
    const w = await harness()
    const { id } = await w.send('park')
    await w.until(id, 'paused-by-agent')
    const ofRoot = await placed(w, rootInAcme)
    const ofOlga = await placed(w, olga)
    await w.engine.lift(olga, ofOlga)
    expect((await w.get(id)).holds).toEqual([ofRoot])
  })
})

describe('a process that dies', () => {
  it('H1: in the middle of holding: the next one finishes it before any task runs', async () => {
    const store = createMemoryStore()
    const done = effects()
    const agent = running(async (task) => {
      await task.step(task.text, () => done.note(task.text))
      await task.park({ reason: 'x', onEvent: 'go' })
      await task.step('woken', () => done.note('woken'))
    })
    const first = await createHarness({ agents: [agent], store })
    const parked = await first.send('parked')
    await first.until(parked.id, 'paused-by-agent')
    first.crash()
    // The hold is durable; no task has been told. Nor has anybody been told of the event.
    await store.appendEvents('acme', [{ id: '1', source: 's', type: 'go' }], 1)
    await store.putHold({
      id: 'hold-1',
      owner: '*',
      scope: { all: true },
      reason: 'panic',
      holdNew: true,
      actor: { kind: 'operator', id: 'root' },
      createdAt: 1,
    })
    const second = await first.recover()
    await second.settled()
    expect((await second.get(parked.id)).holds).toEqual(['hold-1'])
    expect(done.list).toEqual(['parked'])
    const fresh = await second.send('new')
    await second.settled()
    expect((await second.get(fresh.id)).state).toBe('submitted')
    await second.engine.lift(root, 'hold-1')
    await second.until(parked.id, 'completed')
    await second.until(fresh.id, 'paused-by-agent')
    expect([...done.list].sort()).toEqual(['new', 'parked', 'woken'])
  })

  it('H1: in the middle of lifting: the next one finishes it', async () => {
    const first = await harness()
    const { id } = await first.send('park')
    await first.until(id, 'paused-by-agent')
    const { holdId } = await first.engine.hold(root, everything)
    await first.emit('go')
    const [hold] = await first.engine.holds(root)
    if (hold !== undefined) await first.store.putHold({ ...hold, liftedAt: 5 })
    const second = await first.recover()
    await second.until(id, 'completed')
    expect(await second.engine.holds(root)).toEqual([])
    await expect(second.engine.lift(root, holdId)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
