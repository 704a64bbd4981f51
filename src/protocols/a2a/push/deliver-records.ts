/** Sends one webhook the records of its task that it has not received yet. */
import { evolve } from '../../../core/evolve.ts'
import type { Push } from '../../../core/push.ts'
import { isTerminal, kindOf } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { ALL_TENANTS, type Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import { createKeptProgress } from './kept-progress.ts'
import { createSendRecord, type Sending } from './send-record.ts'
import { createWebhookDuty } from './webhook-duty.ts'

/**
 * @param posting called when the first delivery is about to be sent, which may wait for a slot and
 * a receiver
 * @returns the time of the next attempt if a delivery failed and will be retried
 * @throws TakenOver
 */
export type DeliverRecords = (
  push: Push,
  key: string,
  closing: AbortSignal,
  posting: () => void,
) => Promise<number | undefined>

/** The parameters of one call of `DeliverRecords`. */
interface Work extends Sending {
  readonly key: string
  readonly closing: AbortSignal
  /** The task as of its last record. */
  readonly task: Task
  /** The task as of the last record that an earlier call read. */
  readonly kept: Task | undefined
}

const deliveryCaller: Caller = { tenant: ALL_TENANTS, principal: 'push', operator: true }

export function createDeliverRecords(deps: DeliveryDeps): DeliverRecords {
  const { engine, log } = deps
  const sendRecord = createSendRecord(deps)
  const progress = createKeptProgress()

  async function deliverAll(start: Push, work: Work): Promise<number | undefined> {
    const { key, closing, duty, task, kept } = work
    let push = start
    await duty.confirm()
    // An event shows the task as of its record. If no progress was kept, the task is folded from
    // its first record.
    let now = kept
    const after = now?.version ?? 0
    for await (const record of await engine.subscribe(deliveryCaller, push.taskId, { after })) {
      const before = now
      now = evolve(before, record)
      if (closing.aborted) return undefined
      if (record.seq > push.sentSeq) {
        const sent = await sendRecord(push, { before, record, now }, work)
        push = sent.push
        if (!sent.delivered) return nextAttempt(push, log)
      }
      if (record.seq >= task.version) break
    }
    if (isTerminal(task.state)) {
      await duty.save({ ...push, done: true })
      return undefined
    }
    // The last records may have had no events. If the task will not write more for now, the cursor
    // is saved, so that sweeps do not find it due again.
    if (kindOf(task.state) !== 'runnable') await duty.save(push)
    if (now !== undefined) progress.keep(key, duty.stored(), now)
    return undefined
  }

  return async (start, key, closing, posting) => {
    const task = await engine.get(deliveryCaller, start.taskId)
    const kept = progress.of(key, start, task.version)
    const push = { ...start, sentSeq: Math.max(start.sentSeq, kept?.version ?? 0) }
    if (task.version <= push.sentSeq && !isTerminal(task.state)) return undefined
    progress.forget(key)
    const duty = createWebhookDuty(deps, start, key)
    try {
      return await deliverAll(push, { key, closing, posting, duty, task, kept })
    } finally {
      await duty.giveBack()
    }
  }
}

/** @returns the time of the next attempt, if any */
function nextAttempt(push: Push, log: EngineDeps['log']): number | undefined {
  const { taskId, id, attempts, error: why, failedAt, retryAt } = push
  if (failedAt === undefined) return retryAt
  log('warn', 'A webhook was given up', { taskId, id, attempts, why })
  return undefined
}
