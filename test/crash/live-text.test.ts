/** A process dies in the middle of a stream: nobody ever sees the words of two processes together. */
import { afterEach, expect, it } from 'vitest'
import { Died, killAll, startWorker } from '../support/worker-process.ts'
import { temporaryData } from './lives.ts'
import { createTextReader, writersOf } from './text-reader.ts'

afterEach(killAll)

it('starts the text anew after kill -9, live, after reconnecting and in the finished task', async () => {
  const data = temporaryData()
  const options = { data, a2a: true, agents: ['talker'] } as const
  const first = await startWorker(options)
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'talk' }] }
  const configuration = { returnImmediately: true }
  const sent = await first.call('rpc', 'SendMessage', { message, configuration })
  const { id } = (sent as { result: { task: { id: string } } }).result.task
  const reader = createTextReader()
  const reading = expect(reader.read(first, id)).rejects.toThrow(Died)
  await expect.poll(reader.updates).toBeGreaterThan(3)
  await first.kill()
  await reading
  expect(reader.texts().flatMap(writersOf)).toEqual([String(first.pid)])

  const second = await startWorker(options)
  await reader.read(second, id)
  const task = await second.call('get', id)
  const [text = '', ...more] = reader.texts()
  expect(more).toEqual([])
  expect(task.state).toBe('completed')
  expect(task.artifacts.map(({ parts }) => parts)).toEqual([[{ text }]])
  expect(writersOf(text)).toEqual([String(second.pid)])
  expect(text.trim().split(' ')).toHaveLength(10)
  expect((await second.call('verify', id)).faults).toEqual([])
})
