/** Pause & Resume in the words of Bindu, through deaths at every point: nothing is lost, nothing is done twice. */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import { fold } from '../../src/core/evolve.ts'
import { verifyReceipts } from '../../src/core/receipts/check-receipts.ts'
import { createSigner, receiptKey } from '../../src/server/system/signer.ts'
import { Died, killAll, spawnWorker, type Worker } from '../support/worker-process.ts'
import { readEffects } from './effects-file.ts'
import { readLogs, stepsRanAsOftenAsTheyMay } from './judge.ts'
import type { Kill } from './killing-store.ts'
import { temporaryData } from './lives.ts'

afterEach(killAll)

const script = [
  { step: 'one' },
  { ask: 'Which branch?' },
  { repeat: 6, ops: [{ step: 'work', ms: 80 }] },
  { artifact: { name: 'result', text: 'all of it' } },
  { complete: 'done' },
]

// biome-ignore lint/suspicious/noExplicitAny: a task in the words of Bindu
type BinduTask = any

/** One after the other: what the task has to look like, and what is asked for until it does. */
interface Goal {
  readonly isReached: (task: BinduTask) => boolean
  readonly act?: (worker: Worker, taskId: string) => Promise<unknown>
}

const asked =
  (method: string) =>
  (worker: Worker, task_id: string): Promise<{ readonly result?: BinduTask }> =>
    worker.call('rpc', method, { task_id }) as never

const wasPausedFrom = (state: string) => (task: BinduTask) =>
  task.status.state === 'suspended' && task.metadata.checkpoint.paused_from_state === state

const messageId = randomUUID()
const goals: readonly Goal[] = [
  { isReached: ({ status }) => status.state === 'input-required' },
  { isReached: wasPausedFrom('input-required'), act: asked('tasks/pause') },
  { isReached: ({ status }) => status.state === 'input-required', act: asked('tasks/resume') },
  {
    isReached: ({ history }) =>
      history.some((message: { message_id: string }) => message.message_id === messageId),
    act: (worker, taskId) =>
      worker.call('send', {
        message: { role: 'ROLE_USER', messageId, taskId, parts: [{ text: 'main' }] },
      }),
  },
  { isReached: wasPausedFrom('working'), act: asked('tasks/pause') },
  { isReached: ({ status }) => status.state !== 'suspended', act: asked('tasks/resume') },
  { isReached: ({ status }) => status.state === 'completed' },
]

it.each<[string, Kill | undefined, number]>([
  ['when nobody kills it', undefined, 0],
  ['a death right after every record', { moment: 'after', nth: 1, of: 'progress' }, 12],
  ['a death right before every record', { moment: 'before', nth: 2, of: 'progress' }, 12],
])('stops and goes on: %s', async (_title, kill, deaths) => {
  const data = temporaryData()
  const killed = new Set<number>()
  const sendId = randomUUID()
  let taskId = ''
  let next = 0

  async function pursue(worker: Worker): Promise<void> {
    await worker.ready
    if (taskId === '') {
      const message = {
        role: 'ROLE_USER',
        messageId: sendId,
        parts: [{ data: { script } }],
      } as const
      const sent = await worker.call('send', { message })
      if (sent.kind === 'task') taskId = sent.task.id
    }
    while (next < goals.length) {
      const goal = goals[next] as Goal
      const answer = await asked('tasks/get')(worker, taskId)
      if (goal.isReached(answer.result)) next++
      // What is refused was done by a process that could not say so any more.
      else await goal.act?.(worker, taskId)
    }
  }

  while (next < goals.length) {
    const worker = spawnWorker({ data, a2a: true, ...(kill === undefined ? {} : { kill }) })
    try {
      await pursue(worker)
    } catch (error) {
      if (!(error instanceof Died)) throw error
      killed.add(worker.pid)
    }
    await worker.kill()
  }

  expect(killed.size).toBeGreaterThanOrEqual(deaths)
  const log = (await readLogs(data, [taskId])).get(taskId) ?? []
  expect(fold(log)?.state).toBe('completed')
  expect(verifyReceipts(log, createSigner(await receiptKey({ data }, undefined)))).toEqual([])
  const times = (type: string): number => log.filter((record) => record.type === type).length
  expect([times('paused'), times('resumed'), times('answered')]).toEqual([2, 2, 1])
  stepsRanAsOftenAsTheyMay(log, readEffects(data), killed)
})
