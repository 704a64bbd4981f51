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
  return { ids, list, harness }
}

it('S2: sorts by agent, by age and by state, and each task is on one page', async () => {
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

it('S1: sorts at most 20,000 rows, reads the tasks of one page, and counts all', async () => {
  const { harness } = await filled()
  const { engine } = harness
  const [row] = await engine.rows(olga, {}, 1)
  if (row === undefined) throw new Error('no row')
  let sorted = 0
  let read = 0
  const counted: Parameters<typeof listSorted>[0] = {
    // A store that has more than it is asked for.
    rows: async (_caller, _filter, most) => {
      sorted = most
      return new Array<typeof row>(most).fill(row)
    },
    get: (caller, id) => {
      read++
      return engine.get(caller, id)
    },
    count: async () => ({ completed: 70_000, 'input-required': 5 }),
  }
  const page = await listSorted(counted, olga, 'agent', { limit: 10 })
  expect([sorted, read, page.tasks.length, page.total]).toEqual([20_000, 10, 10, 70_005])
  const some = await listSorted(counted, olga, 'agent', { states: ['input-required'], limit: 1 })
  expect(some.total).toBe(5)
})
