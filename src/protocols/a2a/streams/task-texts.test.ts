import { expect, it } from 'vitest'
import type { Task } from '../../../core/task.ts'
import type { Codec } from '../codec/codec.ts'
import { anyone, openTestServer, scripted } from '../test-support/test-server.ts'
import { createTaskTexts } from './fan-out.ts'

/** Counts how often a task is spelled. */
function counting(name: string): Codec & { spelled: number } {
  const codec = {
    name,
    spelled: 0,
    task({ id, history }: Task) {
      codec.spelled++
      return { name, id, history }
    },
  }
  return codec as never
}

it('a task is spelled once per codec, its next version anew, and a long one every time', () => {
  const texts = createTaskTexts()
  const [one, two] = [counting('1.0'), counting('0.3')]
  const task = { id: 't', history: [] } as never as Task
  expect(texts(one, task)).toBe('{"name":"1.0","id":"t","history":[]}')
  expect(texts(one, task)).toBe(texts(one, task))
  expect(texts(two, task)).toContain('"name":"0.3"')
  expect([one.spelled, two.spelled]).toEqual([1, 1])
  texts(one, { ...task })
  expect(one.spelled).toBe(2)
  const long = { ...task, history: 'x'.repeat(70_000) as never }
  expect(texts(one, long)).toBe(texts(one, long))
  expect(one.spelled).toBe(4)
})

it('a get shows each version, and what was kept for one caller is not there for another', async () => {
  const testServer = await openTestServer()
  const message = scripted('1.0', [{ ask: 'ok?' }, { complete: 'x' }])
  const { task } = await testServer.ok('1.0', 'SendMessage', { message })
  const get = async () => (await testServer.ok('1.0', 'GetTask', { id: task.id })).status.state
  expect([await get(), await get()]).toEqual(Array(2).fill('TASK_STATE_INPUT_REQUIRED'))
  const path = `http://lull.test/tasks/${task.id}`
  const other = { ...anyone, principal: 'bob' }
  expect((await testServer.raw(new Request(path), { caller: other }))?.status).toBe(404)
  await testServer.ok('1.0', 'CancelTask', { id: task.id })
  expect(await get()).toBe('TASK_STATE_CANCELED')
})
