import { expect, it } from 'vitest'
import type { Task } from '../../core/task.ts'
import type { ListRequest } from '../../engine/input/requests.ts'
import type { TaskPage } from '../../engine/requests/read-tasks.ts'
import { createHarness, olga, running } from '../../engine/test-support/engine-harness.ts'
import { MOST, searchTasks } from './search-tasks.ts'

async function someTask(text: string): Promise<{ task: Task; id: string; contextId: string }> {
  const harness = await createHarness({ agents: [running(async () => 'done')] })
  const { id } = await harness.send(text)
  const task = await harness.until(id, 'completed')
  return { task, id, contextId: task.contextId }
}

/** So many tasks like this one, in pages, and how many were read. */
function many(task: Task, count: number) {
  let read = 0
  const list = async (_: unknown, { cursor = '0', limit = 50 }: ListRequest = {}) => {
    const from = Number(cursor)
    const tasks = Array.from({ length: Math.min(limit, count - from) }, (_, index) => ({
      ...task,
      id: `task-${from + index}-end`,
    }))
    read += tasks.length
    const next = from + limit
    const page: TaskPage = { tasks, total: count, ...(next < count ? { cursor: `${next}` } : {}) }
    return page
  }
  return { list, read: () => read }
}

it('finds tasks by words of their text, by agent, and by a part of their id', async () => {
  const { task, id, contextId } = await someTask('Run build 51 of Main')
  const engine = { list: async () => ({ tasks: [task], total: 1 }) }
  for (const text of ['main BUILD', id.slice(-6), id.slice(0, 12), contextId, task.agent, 'done']) {
    const found = await searchTasks(engine, olga, text, {}, 0)
    expect([text, found.tasks.map(({ taskId }) => taskId)]).toEqual([text, [id]])
  }
  expect((await searchTasks(engine, olga, 'build 52', {}, 0)).tasks).toEqual([])
})

it('Q1: reads a fixed number of tasks, however many there are, and is continued by its cursor', async () => {
  const { task } = await someTask('Hello')
  const engine = many(task, 100_000)
  const first = await searchTasks(engine, olga, 'task-1500-end', {}, 0)
  expect([engine.read(), first.searched, first.tasks]).toEqual([MOST, MOST, []])
  const { cursor } = first
  const second = await searchTasks(engine, olga, 'task-1500-end', { cursor: cursor ?? '' }, 0)
  expect(second.tasks.map(({ taskId }) => taskId)).toEqual(['task-1500-end'])
})

it('Q1: reads few tasks when they are large, says how many, and is continued by its cursor', async () => {
  const { task } = await someTask('Hello')
  const [first] = task.history
  if (first === undefined) throw new Error('a message was expected')
  const large = { ...task, history: [{ ...first, parts: [{ text: 'x'.repeat(9_000_000) }] }] }
  const all = many(large, 40)
  // A list has few large tasks on a page, whatever was asked for.
  const engine = {
    list: (caller: unknown, request: ListRequest = {}) =>
      all.list(caller, { ...request, limit: 1 }),
  }
  const found = await searchTasks(engine, olga, 'task-39-end', {}, 0)
  expect([all.read(), found.searched, found.tasks]).toEqual([2, 2, []])
  let { cursor } = found
  let searches = 1
  while (cursor !== undefined) {
    const next = await searchTasks(engine, olga, 'task-39-end', { cursor }, 0)
    cursor = next.cursor
    searches++
    if (cursor === undefined) expect(next.tasks).toHaveLength(1)
  }
  expect(searches).toBe(20)
})

it('Q2: answers with no more matches than wanted, and loses none', async () => {
  const { task } = await someTask('Hello')
  const engine = many(task, 250)
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const given = cursor === undefined ? {} : { cursor }
    const page = await searchTasks(engine, olga, 'task', { limit: 30, ...given }, 0)
    expect(page.tasks.length).toBeLessThanOrEqual(30)
    ids.push(...page.tasks.map(({ taskId }) => taskId))
    cursor = page.cursor
  } while (cursor !== undefined)
  expect(new Set(ids).size).toBe(250)
  expect(ids).toHaveLength(250)
})
