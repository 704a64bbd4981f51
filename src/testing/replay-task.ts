/** Runs the code of a task again over its recorded log, in a separate engine. */

import { fold } from '../core/evolve.ts'
import { makeAnchor } from '../core/receipts/receipt-anchor.ts'
import type { LogRecord } from '../core/records.ts'
import type { Task } from '../core/task.ts'
import type { Agent } from '../engine/author/agent.ts'
import { createEngine } from '../engine/engine.ts'
import { rowOf } from '../engine/ledger/row.ts'
import type { IdSource } from '../ports/ids.ts'
import type { Commit } from '../ports/store/tasks.ts'
import type { Store } from '../ports/store.ts'
import { createMemoryStore } from '../stores/memory/memory-store.ts'
import { createCountingIds } from './counting-ids.ts'
import { createManualClock } from './manual-clock.ts'
import { clockUntilDeath, createLife, storeUntilDeath } from './process-life.ts'
import { testSigner } from './test-signer.ts'

export interface ReplayDeps {
  readonly store: Store
  readonly agents: readonly Agent[]
  /** Epoch milliseconds. */
  readonly now: number
}

/** @throws Error when the code reaches another state than the log */
export async function replayTask(deps: ReplayDeps, taskId: string): Promise<Task> {
  const tenant = (await deps.store.tenantOf(taskId)) ?? ''
  const records = await deps.store.records(tenant, taskId, 0, Number.MAX_SAFE_INTEGER)
  const stopped = fold(records)
  const before = beforeLastStop(records)
  if (stopped === undefined || before === undefined) {
    throw new Error(`task ${taskId} has not run yet`)
  }
  const again = await runOn(deps, before)
  if (again.state === stopped.state) return again
  const why = again.suspension?.summary ?? again.failure?.message ?? ''
  throw new Error(
    `the log of task ${taskId} says ${stopped.state}, its code came to ${again.state}. ${why}`,
  )
}

/** The longest prefix of the log after which the task was running. */
function beforeLastStop(
  records: readonly LogRecord[],
): { readonly records: readonly LogRecord[]; readonly task: Task } | undefined {
  for (let length = records.length - 1; length > 0; length--) {
    const some = records.slice(0, length)
    const task = fold(some)
    if (task?.state === 'working' && task.run !== undefined) return { records: some, task }
  }
  return undefined
}

/**
 * Creates ids that differ from those in the log, because the recorded run belongs to a process that
 * no longer exists.
 */
function otherIds(): IdSource {
  const ids = createCountingIds()
  return { ...ids, uuid: () => `ffffffff${ids.uuid().slice(8)}` }
}

async function runOn(
  { agents, now }: ReplayDeps,
  { records, task }: { readonly records: readonly LogRecord[]; readonly task: Task },
): Promise<Task> {
  const copy = createMemoryStore()
  await copy.commit([commitOfLog(task, records)])
  const life = createLife()
  const engine = createEngine({
    store: storeUntilDeath(copy, life),
    agents,
    clock: clockUntilDeath(createManualClock(now), life),
    ids: otherIds(),
    signer: testSigner,
    log: () => undefined,
    memory: { usedBytes: () => 0 },
    options: { blockMs: Number.POSITIVE_INFINITY },
  })
  await engine.start()
  await life.settled()
  const after = await engine.get({ tenant: '*', principal: 'test', operator: true }, task.id)
  life.end()
  await copy.close()
  return after
}

/**
 * Builds one commit that writes a whole log, including what a store keeps outside the log. `task`
 * is the folded log.
 */
export function commitOfLog(task: Task, records: readonly LogRecord[]): Commit {
  const anchor = task.receipts.count > 0 ? { anchor: makeAnchor(task, testSigner) } : {}
  return { tenant: task.tenant, taskId: task.id, expected: 0, records, row: rowOf(task), ...anchor }
}
