/** A webhook that came with a message is not lost, wherever the process dies. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import type { ScriptOp } from '../../src/testing/script-agent/ops.ts'
import { Died, killAll, startWorker, type Worker } from '../support/worker-process.ts'
import { temporaryData } from './lives.ts'

afterEach(killAll)

interface Delivered {
  readonly task?: { readonly status: Status }
  readonly statusUpdate?: { readonly status: Status }
}
interface Status {
  readonly state: string
}

/** Takes every delivery; the states it was told, in order. */
async function createReceiver(): Promise<{ readonly url: string; readonly told: string[] }> {
  const told: string[] = []
  const server = createServer(async (request, response) => {
    const { task, statusUpdate } = (await json(request)) as Delivered
    told.push((task ?? statusUpdate)?.status.state ?? 'artifact')
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, told }
}

const message = (ops: readonly ScriptOp[]) => ({
  messageId: 'first',
  role: 'ROLE_USER',
  parts: [{ data: { script: ops } }],
})

const send = (worker: Worker, sent: object, url?: string): Promise<unknown> =>
  worker.call('rpc', 'SendMessage', {
    message: sent,
    configuration: {
      returnImmediately: true,
      ...(url === undefined ? {} : { taskPushNotificationConfig: { url } }),
    },
  })

const afterFirst = { moment: 'after', nth: 1, of: 'progress' } as const

it('tells a webhook of a task whose process died right after it had written the task', async () => {
  const { url, told } = await createReceiver()
  const data = temporaryData()
  const first = await startWorker({ data, a2a: true, kill: afterFirst })
  await expect(send(first, message([{ complete: 'done' }]), url)).rejects.toThrow(Died)
  expect(told).toEqual([])
  await startWorker({ data, a2a: true })
  await expect
    .poll(() => told)
    .toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'artifact', 'TASK_STATE_COMPLETED'])
})

it('leaves nothing behind when the process died right before it could write the task', async () => {
  const { url, told } = await createReceiver()
  const data = temporaryData()
  const kill = { ...afterFirst, moment: 'before' } as const
  const first = await startWorker({ data, a2a: true, kill })
  await expect(send(first, message([{ complete: 'done' }]), url)).rejects.toThrow(Died)
  const second = await startWorker({ data, a2a: true })
  expect(await second.call('rpc', 'ListTasks', {})).toMatchObject({ result: { totalSize: 0 } })
  await send(second, message([{ complete: 'done' }]), url)
  await expect.poll(() => told).toHaveLength(4)
})

it('tells a webhook that came with an answer, when the process died right after it had written that', async () => {
  const { url, told } = await createReceiver()
  const data = temporaryData()
  const first = await startWorker({ data, a2a: true })
  const asking = message([{ ask: 'go on?' }, { complete: 'done' }])
  const { result } = (await send(first, asking)) as { result: { task: { id: string } } }
  const taskId = result.task.id
  await first.call('waitFor', taskId, ['input-required'])
  await first.kill()

  const second = await startWorker({ data, a2a: true, kill: afterFirst })
  const answer = { messageId: 'second', taskId, role: 'ROLE_USER', parts: [{ text: 'yes' }] }
  await expect(send(second, answer, url)).rejects.toThrow(Died)
  await startWorker({ data, a2a: true })
  await expect.poll(() => told).toEqual(['artifact', 'TASK_STATE_COMPLETED'])
})
