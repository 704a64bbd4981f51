import { expect, it } from 'vitest'
import { createHarness, echo, olga, running } from '../../engine/test-support/engine-harness.ts'
import type { TaskOrder } from '../../wire/ops/tasks.ts'
import { listSorted } from './sorted-tasks.ts'

async function filled() {
  const asks = running((task) => task.ask('who?'), { name: 'asks' })
  const harness = await createHarness({ agents: [echo, asks] })
  const ids: string[] = []
  for (const agent of ['echo', 'asks', 'echo']) {
    harness.clock.advance(1_000)
    const { id } = await harness.send('go', { agent })
    await harness.until(id, agent === 'asks' ? 'input-required' : 'completed')
    ids.push(id)
  }
  const list = (order: TaskOrder, request = {}) => listSorted(harness.engine, olga, order, request)
  return { ids, list }
}

it('sorts by agent, by age and by state, and each task is on one page', async () => {
  const { ids, list } = await filled()
  const [first = '', second = '', third = ''] = ids
  const idsOf = async (order: TaskOrder, request = {}) =>
    (await list(order, request)).tasks.map(({ id }) => id)
  expect(await idsOf('agent')).toEqual([second, ...[first, third].sort()])
  expect((await idsOf('-agent'))[2]).toBe(second)
  expect(await idsOf('changed')).toEqual([first, second, third])
  expect(await idsOf('-created')).toEqual([third, second, first])
  expect((await idsOf('-state'))[0]).toBe(second)
  const page = await list('agent', { limit: 2 })
  expect([page.tasks.length, page.total]).toEqual([2, 3])
  const rest = await list('agent', { limit: 2, cursor: page.cursor })
  expect([...page.tasks, ...rest.tasks].map(({ id }) => id).sort()).toEqual([...ids].sort())
  expect(rest.cursor).toBeUndefined()
})

it('filters, and refuses a cursor of another order', async () => {
  const { ids, list } = await filled()
  const found = await list('agent', { states: ['input-required'] })
  expect(found.tasks.map(({ id }) => id)).toEqual([ids[1]])
  await expect(list('agent', { cursor: '123~task' })).rejects.toThrow('cursor')
})
