import { describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, mallory, olga, running } from '../test-support/engine-harness.ts'
import { createTaskPlaces } from './task-places.ts'

/** Two processes, and how often they have asked all parts of the store. */
async function twoProcesses() {
  let asked = 0
  const counting = (store: Store): Store => ({
    ...store,
    tenantOf(taskId) {
      asked++
      return store.tenantOf(taskId)
    },
  })
  const cluster = createClusterHarness({
    connection: counting,
    agents: [
      running(async (task) => {
        await task.step('one', () => 1)
        await task.park({ reason: 'wait', onEvent: 'built', timeout: { durationMinutes: 60 } })
        await task.park({ reason: 'wait', onEvent: 'never', timeout: { durationMinutes: 1 } })
        return 'done'
      }),
    ],
  })
  const [a, b] = [await cluster.join(), await cluster.join()]
  return { cluster, a, b, asked: () => asked }
}

describe('the places of tasks', () => {
  it('TP2: sends, steps, stops, reads and wakes in any process ask no other part of the store', async () => {
    const { cluster, a, b, asked } = await twoProcesses()
    const { id } = await a.send('go')
    await cluster.settled()
    expect((await b.engine.get(alice, id)).state).toBe('paused-by-agent')
    await b.engine.emit(alice, [{ id: '1', source: 'ci', type: 'built' }])
    await cluster.settled()
    await cluster.pass(120_000)
    expect((await b.engine.get(alice, id)).state).toBe('completed')
    expect(asked()).toBe(0)
  })

  it('TP2: an operator of all tenants who names a task asks for its tenant once', async () => {
    const { cluster, a, b, asked } = await twoProcesses()
    const { id } = await a.send('go')
    await cluster.settled()
    const root = { ...olga, tenant: '*' }
    expect((await b.engine.get(root, id)).id).toBe(id)
    expect((await b.engine.get(root, id)).id).toBe(id)
    expect(asked()).toBe(1)
  })

  it('TP1: a caller of another tenant finds no task, and hides it from nobody', async () => {
    const { cluster, a, b } = await twoProcesses()
    const { id } = await a.send('go')
    await cluster.settled()
    const theirs = b.engine.get(mallory, id).catch((error: unknown) => error)
    const own = b.engine.get(alice, id)
    expect(await theirs).toMatchObject({ code: 'TASK_NOT_FOUND' })
    expect((await own).id).toBe(id)
  })

  it('TP1: remembers what the store has answered, and not what a caller believes', async () => {
    const asked: string[] = []
    const places = createTaskPlaces({
      async tenantOf(taskId) {
        asked.push(taskId)
        return taskId === 'task-1' ? 'acme' : undefined
      },
    })
    expect(await places.keyOf('task-1', 'evil')).toEqual({ tenant: 'evil', id: 'task-1' })
    expect(await places.keyOf('task-1')).toEqual({ tenant: 'acme', id: 'task-1' })
    expect(await places.keyOf('task-1', 'evil')).toEqual({ tenant: 'acme', id: 'task-1' })
    expect(await places.keyOf('task-2')).toBeUndefined()
    places.learn('task-3', 'acme')
    expect(await places.keyOf('task-3')).toEqual({ tenant: 'acme', id: 'task-3' })
    expect(asked).toEqual(['task-1', 'task-2'])
  })
})
