/** Imports beside holds, other imports, retention and crashes (I1 to I5 in import-task.ts). */
import { describe, expect, it } from 'vitest'
import type { TaskExport } from '../../../core/receipts/task-export.ts'
import type { Commit } from '../../../ports/store/tasks.ts'
import type { Store } from '../../../ports/store.ts'
import { createSigner } from '../../../server/system/signer.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import type { Caller } from '../../caller.ts'
import { createClusterHarness } from '../../test-support/cluster-harness.ts'
import {
  alice,
  createHarness,
  effects,
  type Harness,
  olga,
  running,
} from '../../test-support/engine-harness.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const otto: Caller = { ...olga, principal: 'otto' }
const everything = { scope: { all: true }, reason: 'panic', holdNew: true } as const
const there = createSigner(Buffer.from('the key of the other server'))
const signer = createSigner(Buffer.from('the key of this server'))

const done = effects()
const shop = running(async (task) => {
  await task.step('price', () => 7)
  const { input } = await task.park({ reason: 'may it be shipped?', onEvent: 'go' })
  await task.step('ship', () => done.note(`shipped ${input}`))
})

/** A parked task of another server as a file. */
async function exported(): Promise<{ first: Harness; id: string; file: TaskExport }> {
  const first = await createHarness({ agents: [shop], signer: there })
  const { id } = await first.send('buy')
  await first.until(id, 'paused-by-agent')
  return { first, id, file: await fileOf(first, id) }
}

async function fileOf(harness: Harness, taskId: string): Promise<TaskExport> {
  const made = await harness.engine.exportTask(olga, { taskId })
  return JSON.parse(JSON.stringify(made)) as TaskExport
}

/** Two processes on one store. `during` does something when the first one is about to create a task. */
async function twoProcesses() {
  let interruption: ((commit: Commit) => Promise<unknown>) | undefined
  let joined = 0
  const connection = (store: Store): Store => {
    if (joined++ > 0) return store
    const commit: Store['commit'] = async (batch) => {
      const creation = batch.find(({ expected }) => expected === 0)
      const act = interruption
      if (creation !== undefined && act !== undefined) {
        interruption = undefined
        await act(creation)
      }
      return store.commit(batch)
    }
    return { ...store, commit }
  }
  const cluster = createClusterHarness({ agents: [shop], signer, connection })
  const a = await cluster.join()
  const b = await cluster.join()
  const during = (act: (commit: Commit) => Promise<unknown>): void => {
    interruption = act
  }
  return { cluster, a, b, during }
}

describe('a panic hold with holdNew', () => {
  it.each([true, false])('I1: holds an imported task like a sent one, start: %s', async (start) => {
    const { id, file } = await exported()
    const second = await createHarness({ agents: [shop], signer })
    const panic = await second.engine.hold(root, everything)
    const sent = await second.send('buy')
    const { holdId } = await second.engine.importTask(olga, { ...file, start })
    if (holdId !== undefined) await second.engine.lift(olga, holdId)
    await second.emit('go')
    await second.settled()
    for (const taskId of [sent.id, id]) {
      expect(await second.get(taskId)).toMatchObject({ holds: [panic.holdId] })
    }
    expect((await second.get(id)).state).toBe('paused-by-agent')
    await second.engine.lift(root, panic.holdId)
    await second.until(id, 'completed')
  })

  // L8 is an invariant of ledger.ts.
  it('I1, L8: placed by another process while the task is created, holds it', async () => {
    const { id, file } = await exported()
    const { cluster, a, b, during } = await twoProcesses()
    let holding: Promise<{ holdId: string }> | undefined
    during(async () => {
      holding = b.engine.hold(root, everything)
      while ((await b.store.holds()).length < 2) await cluster.settled()
    })
    await a.engine.importTask(olga, { ...file, start: true })
    const panic = await holding
    await cluster.settled()
    expect((await a.get(id)).holds).toEqual([panic?.holdId])
  })
})

describe('the same import twice', () => {
  it('I2: at once in one process: the task is held, and both answers name the hold', async () => {
    const { id, file } = await exported()
    const second = await createHarness({ agents: [shop], signer })
    const answers = await Promise.all([
      second.engine.importTask(olga, file),
      second.engine.importTask(olga, file),
    ])
    const { holds } = await second.get(id)
    expect(answers.map(({ holdId }) => holdId)).toEqual([holds[0], holds[0]])
    expect((await second.engine.holds(olga)).map((hold) => hold.id)).toEqual(holds)
  })

  it('I2: at once in two processes: the task is held, and both answers name the hold', async () => {
    const { id, file } = await exported()
    const { cluster, a, b, during } = await twoProcesses()
    let other: Promise<{ holdId?: string }> | undefined
    during(async () => {
      other = b.engine.importTask(olga, file)
      await other
    })
    const mine = await a.engine.importTask(olga, file)
    await cluster.settled()
    const { holds } = await a.get(id)
    expect(holds).toHaveLength(1)
    expect([mine.holdId, (await other)?.holdId]).toEqual([holds[0], holds[0]])
  })

  it('I3: by another operator at once: one is refused, and lifts nothing of the other', async () => {
    const { id, file } = await exported()
    const { cluster, a, b, during } = await twoProcesses()
    let other: Promise<{ holdId?: string }> | undefined
    during(async () => {
      other = b.engine.importTask(otto, file)
      await other
    })
    await expect(a.engine.importTask(olga, file)).rejects.toThrow('exists here already')
    await cluster.settled()
    const { holdId } = (await other) ?? {}
    expect((await a.get(id)).holds).toEqual([holdId])
    expect((await a.engine.holds(olga)).map((hold) => hold.id)).toEqual([holdId])
  })

  it('I4: a repeat answers what is there, and names the hold', async () => {
    const { id, file } = await exported()
    const second = await createHarness({ agents: [shop], signer })
    const first = await second.engine.importTask(olga, file)
    expect(await second.engine.importTask(olga, file)).toEqual(first)
    const started = await second.engine.importTask(olga, { ...file, start: true })
    expect(started).toMatchObject({ taskId: id, state: 'paused-by-agent' })
    expect(started.holdId).toBeUndefined()
    expect((await second.get(id)).holds).toEqual([])
    await expect(second.engine.importTask(otto, file)).rejects.toThrow('exists here already')
  })
})

describe('an import with start', () => {
  it('I3: leaves the hold that an operator placed on the task before', async () => {
    const { id, file } = await exported()
    const second = await createHarness({ agents: [shop], signer })
    const scope = { taskIds: [id] }
    const { holdId } = await second.engine.hold(olga, { scope, reason: 'audit', holdNew: true })
    await second.engine.importTask(olga, { ...file, start: true })
    await second.emit('go')
    await second.settled()
    expect(await second.get(id)).toMatchObject({ state: 'paused-by-agent', holds: [holdId] })
  })

  it('I4: cut by a crash leaves the task held, and the repeat starts it', async () => {
    const { id, file } = await exported()
    const store = createMemoryStore()
    const dying: Store = {
      ...store,
      async commit(batch) {
        const results = await store.commit(batch)
        if (batch.some(({ expected }) => expected === 0)) second.crash()
        return results
      },
    }
    const second: Harness = await createHarness({ agents: [shop], signer, store: dying })
    second.engine.importTask(olga, { ...file, start: true }).catch(() => undefined)
    await second.settled()
    const third = await createHarness({ agents: [shop], signer, store })
    const { holds } = await third.get(id)
    expect(holds).toHaveLength(1)
    expect(await third.engine.importTask(olga, file)).toMatchObject({ holdId: holds[0] })
    await third.engine.importTask(olga, { ...file, start: true })
    await third.emit('go')
    await third.until(id, 'completed')
  })
})

describe('a task that retention removed', () => {
  it('I5: is not imported again, so no step of it runs twice', async () => {
    const { first, id, file } = await exported()
    await first.engine.resume(olga, { taskId: id, input: 'once' })
    await first.until(id, 'completed')
    const third = await createHarness({ agents: [shop], signer, options: { tasksForMs: 1_000 } })
    await third.engine.importTask(olga, await fileOf(first, id))
    third.clock.advance(10_000)
    expect((await third.engine.prune()).tasks).toBe(1)
    await expect(third.engine.importTask(olga, file)).rejects.toThrow('was removed')
    expect(done.count('shipped once')).toBe(1)
  })
})

it('a task that has ended is imported into a shared store with fewer events, and forked there', async () => {
  const { first, id } = await exported()
  await first.emit('another')
  await first.emit('go')
  await first.until(id, 'completed')
  const { cluster, a, b } = await twoProcesses()
  const file = await fileOf(first, id)
  expect(await a.engine.importTask(olga, file)).toMatchObject({ taskId: id, state: 'completed' })
  const forking = b.engine.fork(alice, { taskId: id, at: 'ship', paused: true })
  await cluster.settled()
  expect((await forking).state).toBe('paused-by-client')
})
