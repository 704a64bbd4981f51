import { expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, running, signal } from '../test-support/engine-harness.ts'

it('asked a shared store three times for a task that was waited for', async () => {
  const release = signal()
  const agents = [running((task) => task.step('work', () => release.promise).then(() => 'done'))]
  let asked = 0
  const counting = (store: Store): Store => ({
    ...store,
    ...(store.cluster && {
      cluster: {
        ...store.cluster,
        versions(taskIds) {
          asked++
          return store.cluster?.versions(taskIds) ?? Promise.resolve([])
        },
      },
    }),
  })
  const cluster = createClusterHarness({ agents, connection: counting })
  const process = await cluster.join()
  const { id } = await process.send('go')
  await cluster.settled()
  asked = 0
  const ended = process.engine.waitFor(alice, id, ({ state }) => state === 'completed')
  await cluster.settled()
  expect(asked).toBe(1)
  release.fire()
  expect((await ended).state).toBe('completed')
})

it('a wait shows nothing of a task that the caller may not see, also when the task is written', async () => {
  const agents = [running(() => 'done')]
  const cluster = createClusterHarness({ agents })
  const process = await cluster.join()
  const { id } = await process.send('go')
  const seen: string[] = []
  const stranger = { tenant: 'other', principal: 'eve' }
  const waiting = process.engine.waitFor(stranger, id, (task) => {
    seen.push(task.state)
    return true
  })
  await expect(waiting).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
  await cluster.settled()
  expect(seen).toEqual([])
})
