/** `engine.replaceAgents`: hot reload, alone and on a store that other processes use too. */
import { describe, expect, it } from 'vitest'
import type { Task } from '../../core/task.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, createHarness, echo, running, signal } from '../test-support/engine-harness.ts'

const LEASE_MS = 15_000

/** Parks, and then says which code went on. */
const parks = (version: string) =>
  running((task) => task.park({ reason: 'wait' }).then(() => version), { name: 'parks' })

const saidBy = ({ statusMessage }: Task) => statusMessage?.parts

describe('replaced agents', () => {
  it('a run in memory goes on with its code, and a task that wakes later gets the new code', async () => {
    const release = signal()
    const busy = (version: string) =>
      running((task) => task.step('x', () => release.promise).then(() => version), { name: 'busy' })
    const agents = [busy('old'), parks('old')]
    const harness = await createHarness({ agents, options: { warmForMs: 0 } })
    const { id: busyId } = await harness.send('go', { agent: 'busy' })
    const { id: parkedId } = await harness.send('go', { agent: 'parks' })
    await harness.until(parkedId, 'paused-by-agent')
    await harness.settled()
    await harness.engine.replaceAgents([busy('new'), parks('new')])
    release.fire()
    expect(saidBy(await harness.ended(busyId))).toEqual([{ text: 'old' }])
    await harness.engine.resume(alice, { taskId: parkedId })
    expect(saidBy(await harness.ended(parkedId))).toEqual([{ text: 'new' }])
  })

  it('a task of an agent that is gone is stopped when it wakes, and goes on when the agent is back', async () => {
    const harness = await createHarness({ agents: [parks('old')], options: { warmForMs: 0 } })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.settled()
    await harness.engine.replaceAgents([echo])
    await harness.engine.resume(alice, { taskId: id })
    const stopped = await harness.until(id, ({ suspension }) => suspension !== undefined)
    expect(stopped.suspension).toMatchObject({ reason: 'agent-unknown' })
    await harness.engine.replaceAgents([parks('new')])
    await harness.engine.resume(alice, { taskId: id })
    expect(saidBy(await harness.ended(id))).toEqual([{ text: 'new' }])
  })

  it('a task whose agent is removed while its frame is built is not left without a run', async () => {
    const read = signal()
    let isSlow = false
    const store = createMemoryStore()
    const slow = {
      ...store,
      async records(...page: Parameters<typeof store.records>) {
        if (isSlow) await read.promise
        return store.records(...page)
      },
    }
    const options = { warmForMs: 0 }
    const harness = await createHarness({ agents: [parks('old')], store: slow, options })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.settled()
    isSlow = true
    await harness.engine.resume(alice, { taskId: id })
    await harness.engine.replaceAgents([echo])
    read.fire()
    const stopped = await harness.until(id, ({ suspension }) => suspension !== undefined)
    expect(stopped.suspension).toMatchObject({ reason: 'agent-unknown' })
  })
})

describe('replaced agents on a shared store', () => {
  it('tasks of an agent that another process still has go on there', async () => {
    const cluster = createClusterHarness({ options: { warmForMs: 0 } })
    const a = await cluster.join({ agents: [parks('a'), echo] })
    const b = await cluster.join({ agents: [parks('b')] })
    const { id } = await a.send('go', { agent: 'parks' })
    await cluster.settled()
    await a.engine.replaceAgents([echo])
    await a.engine.resume(alice, { taskId: id })
    await cluster.pass(LEASE_MS)
    expect(saidBy(await b.get(id))).toEqual([{ text: 'b' }])
  })

  it('tasks of an agent that no process has wait, and start where the agent comes back', async () => {
    const cluster = createClusterHarness({ options: { warmForMs: 0 } })
    const a = await cluster.join({ agents: [echo] })
    const b = await cluster.join({ agents: [parks('b')] })
    const { id } = await b.send('go')
    await cluster.settled()
    await b.engine.replaceAgents([echo])
    await b.engine.resume(alice, { taskId: id })
    await cluster.pass(2 * LEASE_MS)
    expect(await a.get(id)).toMatchObject({ state: 'working', suspension: undefined })
    await a.engine.replaceAgents([echo, parks('a')])
    await cluster.settled()
    expect(saidBy(await a.get(id))).toEqual([{ text: 'a' }])
  })

  it('a process takes over tasks of an agent that it got after its start', async () => {
    const hang = () => new Promise<string>(() => undefined)
    const worker = (name: string) =>
      running((task) => task.step('x', () => (name === 'b' ? 'done' : hang())), { name: 'late' })
    const cluster = createClusterHarness()
    const a = await cluster.join({ agents: [worker('a')] })
    const b = await cluster.join({ agents: [echo] })
    const { id } = await a.send('go')
    await cluster.settled()
    await b.engine.replaceAgents([echo, worker('b')])
    a.crash()
    await cluster.pass(2 * LEASE_MS)
    expect((await b.get(id)).state).toBe('completed')
  })

  it('operators see the agents that a process has now', async () => {
    const cluster = createClusterHarness()
    const a = await cluster.join({ agents: [echo] })
    const b = await cluster.join({ agents: [echo] })
    await a.engine.replaceAgents([echo, parks('a')])
    await cluster.pass(LEASE_MS)
    const seen = await b.engine.workers()
    const agentsOf = (id: string) => seen.find((one) => one.id === id)?.agents
    expect(agentsOf(a.engine.worker())).toEqual(['echo', 'parks'])
    expect(agentsOf(b.engine.worker())).toEqual(['echo'])
  })
})
