/** A process dies in the middle of a stream: nobody ever sees the words of two processes together. */
import { afterEach, expect, it } from 'vitest'
import { Died, killAll, startWorker, type Worker } from '../support/worker-process.ts'
import { temporaryData } from './lives.ts'

afterEach(killAll)

interface Update {
  readonly artifact: { readonly artifactId: string; readonly parts: readonly { text: string }[] }
  readonly append: boolean
}

/** A client that folds what it is sent, as clients that know nothing of Lull do. */
function createReader() {
  let text = ''
  let lastEventId: string | undefined
  let updates = 0

  function take(frame: string): void {
    lastEventId = /^id: (.*)$/m.exec(frame)?.[1]
    const { result } = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '{}')
    if (result.task !== undefined) text = ''
    const update: Update | undefined = result.artifactUpdate
    if (update === undefined) return
    updates++
    const piece = update.artifact.parts.map((part) => part.text).join('')
    text = update.append ? text + piece : piece
    expect(writers(text).length).toBeLessThanOrEqual(1)
  }

  return {
    read(worker: Worker, taskId: string): Promise<void> {
      const stop = worker.listen((news) => {
        if (news.kind === 'frame') take(news.frame)
      })
      return worker.call('frames', taskId, lastEventId).finally(stop)
    },
    text: () => text,
    updates: () => updates,
  }
}

/** The processes whose words are in the text. */
function writers(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/(\d+):/g)].map(([, pid]) => pid ?? ''))]
}

it('starts the text anew after kill -9, live, after reconnecting and in the finished task', async () => {
  const data = temporaryData()
  const options = { data, a2a: true, agents: ['talker'] } as const
  const first = await startWorker(options)
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'talk' }] }
  const configuration = { returnImmediately: true }
  const sent = await first.call('rpc', 'SendMessage', { message, configuration })
  const { id } = (sent as { result: { task: { id: string } } }).result.task
  const reader = createReader()
  const reading = expect(reader.read(first, id)).rejects.toThrow(Died)
  await expect.poll(reader.updates).toBeGreaterThan(3)
  await first.kill()
  await reading
  expect(writers(reader.text())).toEqual([String(first.pid)])

  const second = await startWorker(options)
  await reader.read(second, id)
  const task = await second.call('get', id)
  const recorded = task.artifacts.map(({ parts }) => parts)
  expect(task.state).toBe('completed')
  expect(recorded).toEqual([[{ text: reader.text() }]])
  expect(writers(reader.text())).toEqual([String(second.pid)])
  expect(reader.text().trim().split(' ')).toHaveLength(10)
  expect((await second.call('verify', id)).faults).toEqual([])
})
