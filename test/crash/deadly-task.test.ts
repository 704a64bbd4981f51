/** A task that ends every process in which it runs, beside tasks with a long step. */
import { afterEach, expect, it } from 'vitest'
import type { ScriptOp } from '../../src/testing/script-agent/ops.ts'
import { Died, killAll, spawnWorker, type Worker } from '../support/worker-process.ts'
import { temporaryData } from './lives.ts'

afterEach(killAll)

const LONG_MS = 4_000
const MOST_DEATHS = 5

async function send(worker: Worker, name: string, ops: readonly ScriptOp[]): Promise<string> {
  const message = {
    messageId: name,
    role: 'ROLE_USER',
    parts: [{ data: { script: ops } }],
  } as const
  const sent = await worker.call('send', { message, agent: 'script' } as never)
  if (sent.kind !== 'task') throw new Error('no task')
  return sent.task.id
}

it('is stopped after five deaths, and the tasks beside it come to their end', async () => {
  const data = temporaryData()
  const spawn = (): Worker => spawnWorker({ data, deadlyStep: 'deadly' })
  let worker = spawn()
  await worker.ready
  const beside: string[] = []
  for (const name of ['a', 'b', 'c']) {
    beside.push(await send(worker, name, [{ step: `long ${name}`, ms: LONG_MS, stubborn: true }]))
  }
  const deadly = await send(worker, 'd', [{ step: 'before', ms: 500 }, { step: 'deadly' }])
  let deaths = 0
  for (;;) {
    const over = [...beside, deadly].map((id) =>
      worker.call('waitFor', id, ['completed', 'paused-by-client']),
    )
    try {
      const tasks = await Promise.all(over)
      const completed = beside.map(() => 'completed')
      expect(tasks.map(({ state }) => state)).toEqual([...completed, 'paused-by-client'])
      expect(tasks.at(-1)?.suspension?.reason).toBe('crash-loop')
      break
    } catch (error) {
      await Promise.allSettled(over)
      if (!(error instanceof Died)) throw error
      deaths++
      if (deaths > MOST_DEATHS) throw new Error('it goes on killing')
      worker = spawn()
    }
  }
  expect(deaths).toBe(MOST_DEATHS)
})
