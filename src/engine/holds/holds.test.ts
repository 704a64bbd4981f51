import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { Caller } from '../caller.ts'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  type Harness,
  type HarnessOptions,
  olga,
  running,
  signal,
} from '../test-support/engine-harness.ts'
import { createFaultyStore } from '../test-support/faulty-store.ts'
import { keywordAgent, keywordRuns } from '../test-support/keyword-agent.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const everything = { scope: { all: true }, reason: 'panic' } as const

async function harness(some: HarnessOptions = {}): Promise<Harness> {
  return createHarness({ agents: [keywordAgent], ...some })
}

describe('a hold', () => {
  it('answers with the outcome of each task, sorted by id', async () => {
    const w = await harness()
    const work = await w.send('work')
    const park = await w.send('park')
    const end = await w.send('end')
    await w.until(end.id, 'completed')
    await w.settled()
    const taskIds = [end.id, park.id, 'nobody', work.id]
    const answer = await w.engine.hold(olga, { scope: { taskIds }, reason: 'audit' })
    expect(answer.outcomes).toEqual([
      { taskId: work.id, outcome: 'held', pausing: true },
      { taskId: park.id, outcome: 'held' },
      { taskId: end.id, outcome: 'terminal' },
      { taskId: 'nobody', outcome: 'unknown' },
    ])
  })

  it('is idempotent: the same request again is the same hold, and nothing is written', async () => {
    const w = await harness()
    const { id } = await w.send('park')
    await w.until(id, 'paused-by-agent')
    const first = await w.engine.hold(root, everything)
    const log = await w.log(id)
    expect(await w.engine.hold(root, everything)).toEqual({
      holdId: first.holdId,
      outcomes: [{ taskId: id, outcome: 'already_held' }],
    })
    expect(await w.log(id)).toEqual(log)
  })

  it('of another operator, or for another reason, is another hold, and each is lifted by itself', async () => {
    const w = await harness()
    const { id } = await w.send('park')
    await w.until(id, 'paused-by-agent')
    const other: Caller = { ...root, principal: 'rita' }
    const ids: string[] = []
    for (const [caller, request] of [
      [root, everything],
      [other, everything],
      [root, { ...everything, reason: 'other words' }],
      [root, { ...everything, holdNew: true }],
    ] as const) {
      ids.push((await w.engine.hold(caller, request)).holdId)
    }
    expect((await w.get(id)).holds).toEqual(ids)
    await w.engine.lift(root, ids[0] ?? '')
    expect((await w.get(id)).holds).toEqual(ids.slice(1))
  })

  it('asked for twice at the same time is one hold', async () => {
    const w = await harness()
    const [first, second] = await Promise.all([
      w.engine.hold(root, everything),
      w.engine.hold(root, everything),
    ])
    expect(first.holdId).toBe(second.holdId)
    expect(await w.engine.holds(root)).toHaveLength(1)
  })

  it('interrupts what works and lets nothing resume it; lifting does', async () => {
    const w = await harness()
    const { id } = await w.send('work')
    await w.settled()
    const { holdId } = await w.engine.hold(root, everything)
    const task = await w.until(id, 'paused-by-client')
    expect(task.suspension).toMatchObject({ reason: 'panic', actor: { kind: 'operator' } })
    await expect(w.engine.resume(alice, { taskId: id })).rejects.toMatchObject({
      code: 'TASK_HELD',
      details: { holdIds: [holdId] },
    })
    expect(await w.engine.lift(root, holdId)).toEqual({ holdId, tasks: 1 })
    const ended = await w.until(id, 'completed')
    expect(ended.wake).toMatchObject({ cause: 'external_event' })
  })

  it('lifted while the task quiesces lets it go on as if nothing had been', async () => {
    const go = signal()
    const done = effects()
    const w = await createHarness({
      agents: [
        running(async (task) => {
          await task.step('stubborn', () => go.promise)
          await task.step('next', () => done.note('next'))
        }),
      ],
    })
    const { id } = await w.send('go')
    await w.settled()
    const { holdId } = await w.engine.hold(root, everything)
    expect((await w.get(id)).pausing?.byHold).toBe(true)
    await w.engine.lift(root, holdId)
    expect((await w.get(id)).pausing).toBeUndefined()
    go.fire()
    await w.until(id, 'completed')
    expect(done.list).toEqual(['next'])
  })

  it('pins a parked task: its event is kept, and acts when the hold is lifted', async () => {
    const w = await harness()
    const { id } = await w.send('park')
    await w.until(id, 'paused-by-agent')
    const { holdId } = await w.engine.hold(root, everything)
    await w.emit('go')
    await w.settled()
    expect((await w.get(id)).state).toBe('paused-by-agent')
    await w.engine.lift(root, holdId)
    const ended = await w.until(id, 'completed')
    expect(dataOf(ended, 'result')).toEqual({ input: null, cause: 'condition_fired', event: 'go' })
  })

  it('defers a deadline until the hold is lifted', async () => {
    const w = await harness()
    const { id } = await w.send('timeout')
    await w.until(id, 'paused-by-agent')
    const { holdId } = await w.engine.hold(root, everything)
    await w.pass(120_000)
    expect((await w.get(id)).state).toBe('paused-by-agent')
    await w.engine.lift(root, holdId)
    await w.until(id, 'failed')
  })

  it('pins a question: the first answer is kept, and acts when the hold is lifted', async () => {
    const w = await harness()
    const { id } = await w.send('ask')
    await w.until(id, 'input-required')
    const { holdId } = await w.engine.hold(root, everything)
    await w.tell(id, 'one')
    await w.tell(id, 'two')
    await w.settled()
    expect((await w.get(id)).state).toBe('input-required')
    await w.engine.lift(root, holdId)
    expect(dataOf(await w.until(id, 'completed'), 'result')).toBe('one')
  })

  it('keeps submitted tasks from starting, and with holdNew also new ones', async () => {
    const done = effects()
    const agent = running((task) => done.note(task.text), { concurrency: 1 })
    const w = await createHarness({ agents: [agent] })
    const { holdId } = await w.engine.hold(root, { ...everything, holdNew: true })
    const held = await w.send('held')
    await w.settled()
    expect(held.holds).toEqual([holdId])
    expect((await w.get(held.id)).state).toBe('submitted')
    expect(done.list).toEqual([])
    await w.engine.lift(root, holdId)
    await w.until(held.id, 'completed')
    const free = await w.send('free')
    await w.until(free.id, 'completed')
    expect(done.list).toEqual(['held', 'free'])
  })

  it('with holdNew lets no task slip through that is sent at the same time', async () => {
    const w = await harness()
    const sent = ['park', 'work', 'park'].map((what) => w.send(what))
    const { holdId } = await w.engine.hold(root, { ...everything, holdNew: true })
    const more = ['park', 'work'].map((what) => w.send(what))
    for (const task of await Promise.all([...sent, ...more])) {
      await w.settled()
      expect((await w.get(task.id)).holds).toEqual([holdId])
    }
  })

  it('that is lifted also releases tasks that were created meanwhile', async () => {
    const store = createMemoryStore()
    const lifted = signal()
    const w = await harness({
      store: {
        ...store,
        async putHold(hold) {
          if (hold.liftedAt !== undefined) await lifted.promise
          await store.putHold(hold)
        },
      },
    })
    const { holdId } = await w.engine.hold(root, { ...everything, holdNew: true })
    const lifting = w.engine.lift(root, holdId)
    const sent = w.send('end')
    lifted.fire()
    await lifting
    const { id } = await sent
    await w.until(id, 'completed')
  })

  it('that cannot be stored releases the tasks that were created under it', async () => {
    const store = createMemoryStore()
    const refused = signal()
    const w = await harness({
      store: {
        ...store,
        async putHold() {
          await refused.promise
          throw new Error('disk full')
        },
      },
    })
    const holding = w.engine.hold(root, { ...everything, holdNew: true })
    const sent = w.send('end')
    refused.fire()
    await expect(holding).rejects.toThrow('disk full')
    const { id } = await sent
    await w.until(id, 'completed')
  })

  it('without holdNew leaves new tasks alone', async () => {
    const w = await harness()
    await w.engine.hold(root, everything)
    const { id } = await w.send('end')
    await w.until(id, 'completed')
  })

  it('H4: lifted resumes only what it stopped: a pause of the client stays', async () => {
    const w = await harness()
    const paused = await w.send('work')
    const working = await w.send('work')
    await w.settled()
    await w.engine.pause(alice, { taskId: paused.id, mode: 'interrupt_immediate' })
    const { holdId } = await w.engine.hold(root, everything)
    await w.until(working.id, 'paused-by-client')
    await w.engine.lift(root, holdId)
    await w.until(working.id, 'completed')
    await w.settled()
    expect((await w.get(paused.id)).state).toBe('paused-by-client')
    await w.engine.resume(alice, { taskId: paused.id })
    await w.until(paused.id, 'completed')
  })

  it('under two holds a task goes on when the last is lifted', async () => {
    const w = await harness()
    const { id } = await w.send('park')
    await w.until(id, 'paused-by-agent')
    const one = await w.engine.hold(root, everything)
    const two = await w.engine.hold(root, { scope: { agent: 'worker' }, reason: 'second' })
    await w.emit('go')
    await w.engine.lift(root, one.holdId)
    await w.settled()
    expect((await w.get(id)).state).toBe('paused-by-agent')
    await w.engine.lift(root, two.holdId)
    await w.until(id, 'completed')
  })

  it('whose lifting failed halfway can be lifted again', async () => {
    const faulty = createFaultyStore()
    const w = await harness({ store: faulty.store })
    const tasks = await Promise.all([w.send('work'), w.send('work')])
    await w.settled()
    const { holdId } = await w.engine.hold(root, everything)
    for (const { id } of tasks) await w.until(id, 'paused-by-client')
    faulty.breaksAt = ({ taskId }) => taskId === tasks[1]?.id
    await expect(w.engine.lift(root, holdId)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    faulty.breaksAt = () => false
    await w.engine.lift(root, holdId)
    for (const { id } of tasks) await w.until(id, 'completed')
    expect(await w.engine.holds(root)).toEqual([])
  })

  it('does not keep a task from being cancelled', async () => {
    const w = await harness()
    const { id } = await w.send('park')
    await w.until(id, 'paused-by-agent')
    await w.engine.hold(root, everything)
    await w.engine.cancel(alice, { taskId: id })
    expect((await w.get(id)).state).toBe('canceled')
  })

  it.each([
    ['all', { all: true }],
    ['tenant', { tenant: 'acme' }],
    ['agent', { agent: 'worker' }],
    ['context', { contextId: 'here' }],
  ] as const)('reaches by %s what is in it, and nothing else', async (_name, scope) => {
    const w = await harness({
      agents: [keywordAgent, running(keywordRuns['park'] as never, { name: 'other' })],
    })
    const sent = (caller: Caller, agent: string, contextId: string) =>
      w.engine.send(caller, {
        agent,
        message: {
          messageId: `${caller.tenant}-${agent}-${contextId}`,
          role: 'ROLE_USER',
          parts: [{ text: 'park' }],
          contextId,
        },
      })
    await sent(alice, 'worker', 'here')
    await sent({ ...alice, tenant: 'evil' }, 'other', 'there')
    await w.settled()
    const { outcomes } = await w.engine.hold(root, { scope, reason: 'x' })
    expect(outcomes).toHaveLength('all' in scope ? 2 : 1)
  })
})
