/** Warm, evicted after every record, or killed after every record: a task goes on with the same records. */
import { afterEach, expect, it } from 'vitest'
import type { LogRecord } from '../../src/core/records.ts'
import type { ScriptOp } from '../../src/testing/script-agent/ops.ts'
import { killAll, spawnWorker } from '../support/worker-process.ts'
import { createClient } from './client.ts'
import { readLogs } from './judge.ts'
import { temporaryData } from './lives.ts'
import { normal } from './normal.ts'
import type { WorkerOptions } from './worker.ts'

afterEach(killAll)

const moment = { timeout: { durationMinutes: 0.0002, onTimeout: 'resume_with_summary' } } as const

const scripts: Readonly<Record<string, readonly ScriptOp[]>> = {
  'stops and outputs': [
    { step: 'one' },
    { say: 'hello' },
    { park: { reason: 'ci', conditions: { onEvent: 'ci.done:1' }, summary: 'on ci' } },
    { echo: 'wake' },
    { ask: 'Which branch?' },
    { echo: 'input' },
    { auth: 'Token?' },
    { consent: { prompt: 'Push?', operation: { push: 'main' } } },
    { park: { reason: 'by hand' } },
    { echo: 'input' },
    { artifact: { name: 'result', text: 'all of it', chunks: 3 } },
    { usage: { inputTokens: 3, costUsd: 0.5 } },
    { complete: 'done' },
  ],
  turns: [
    { repeat: 2, ops: [{ turn: [{ tool: 'look' }, { say: 'looked' }, { echo: 'messages' }] }] },
    { park: { reason: 'a moment', conditions: moment } },
    {
      turn: [
        { tools: [{ name: 'a' }, { name: 'b', throw: 'oh' }, { name: 'c' }] },
        { echo: 'reminders' },
        { echo: 'transcript' },
        { ask: 'In a turn?' },
        { tool: 'after' },
      ],
    },
    { compact: true },
    { turn: [{ echo: 'transcript' }, { echo: 'wake' }] },
    { step: 'fails', throw: 'on purpose' },
  ],
  children: [
    {
      delegate: { script: [{ step: 'inner' }, { park: { reason: 'child', conditions: moment } }] },
    },
    { step: 'meanwhile' },
    { child: 'wait' },
    { delegate: { script: [{ fail: 'child' }] }, wait: true },
    { step: 'last' },
  ],
}

type How = Omit<WorkerOptions, 'data'>
type Logs = readonly (readonly object[])[]

/** Deaths count on every task of the process, also on one that only waits for its child. */
const engine = { maxDeaths: 1_000 }
const warm: How = {}
const evicted: How = { engine: { warmForMs: 0 }, evict: true }
const killed: How = {
  engine,
  kill: { moment: 'after', nth: 1, of: 'progress' },
}

it.each(Object.entries(scripts))('%s', async (_name, script) => {
  const [expected, ...cold] = await Promise.all([warm, evicted, killed].map(tellOf(script)))
  for (const logs of cold) expect(logs).toEqual(expected)
})

it('several branches, each for itself', async () => {
  const branch = (name: string): readonly ScriptOp[] => [
    { step: name, ms: 5 },
    { step: 'shared' },
    { artifact: { name, text: name } },
  ]
  const script = [{ parallel: [branch('a'), branch('b'), branch('c')] }, { ask: 'All done?' }]
  // Which branch is first is chance; what was written is not.
  const told = await Promise.all([warm, evicted, killed].map(tellOf(script)))
  const [expected, ...cold] = told.map(([log = []]) => log.map((one) => JSON.stringify(one)).sort())
  for (const log of cold) expect(log).toEqual(expected)
})

/** The logs of the task and of its children, without what may differ. */
const tellOf =
  (script: readonly ScriptOp[]) =>
  async (how: How): Promise<Logs> => {
    const data = temporaryData()
    const client = createClient(new Map([['it', script]]))
    for (;;) {
      const worker = spawnWorker({ data, ...how })
      const ended = await client.attend(worker)
      await worker.kill()
      if (ended) break
    }
    const [taskId = ''] = client.taskIds.values()
    const children = (client.seen.get(taskId) ?? []).flatMap((record) =>
      record.type === 'delegated' ? record.childId : [],
    )
    const logs = await readLogs(data, [taskId, ...children])
    if (how.evict) expect([...logs.values()].flat().filter(isTakenFromTheDead)).toEqual([])
    return normal([...logs.values()].map((log) => log.filter(isOfTheTask)))
  }

/** A process that hands its tasks on has not died. */
function isTakenFromTheDead(record: LogRecord): boolean {
  return record.type === 'started' && record.deaths > 0
}

/** Who ran it, and when it was handed over, differs; what it did does not. */
function isOfTheTask(record: LogRecord): boolean {
  if (record.type === 'receipt') return record.receipt.kind !== 'DrainDecisionReceipt'
  return record.type !== 'started' && record.type !== 'released'
}
