import { afterEach, it } from 'vitest'
import { killAll, spawnWorker } from '../support/worker-process.ts'
import { createClient } from './client.ts'
import { temporaryData } from './lives.ts'
import { readLogs } from './judge.ts'
afterEach(killAll)
const moment = { timeout: { durationMinutes: 0.0002, onTimeout: 'resume_with_summary' } } as const
it('children', async () => {
  const data = temporaryData()
  const client = createClient(new Map([['it', [
    { delegate: { script: [{ step: 'inner' }, { park: { reason: 'child', conditions: moment } }] } },
    { step: 'meanwhile' },
    { child: 'remind', body: 'be quick' },
    { child: 'wait' },
    { delegate: { script: [{ fail: 'child' }] }, wait: true },
    { step: 'last' },
  ]]]))
  const worker = spawnWorker({ data, engine: { warmForMs: 0 }, evict: true })
  setTimeout(() => worker.kill(), 25_000)
  console.log(await client.attend(worker))
  await worker.kill()
  const [taskId = ''] = client.taskIds.values()
  const children = (client.seen.get(taskId) ?? []).flatMap((r) => r.type === 'delegated' ? r.childId : [])
  for (const log of (await readLogs(data, [taskId, ...children])).values()) { const t0 = log[0]!.at; console.log(log.map(r => `${r.at - t0} ${r.seq} ${r.type} ${'key' in r ? r.key : ''}`).join('\n')) }
})
