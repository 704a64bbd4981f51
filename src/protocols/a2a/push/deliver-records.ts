/** Sends one webhook the records of its task that it has not received. */
import { evolve } from '../../../core/evolve.ts'
import type { Push } from '../../../core/push.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isTerminal, kindOf } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { ALL_TENANTS, type Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Codecs } from '../codec/codecs.ts'
import { eventsOf } from '../task-events.ts'
import { deliveryOf } from './body.ts'
import { afterFailure, afterSuccess } from './delivery-failure.ts'
import type { Post } from './post.ts'
import type { PushStore } from './push-store.ts'
import { TargetRefused } from './targets.ts'
import { tracedPost } from './traced-post.ts'
import { createWebhookDuty, TakenOver, type WebhookDuty } from './webhook-duty.ts'

export interface DeliveryDeps {
  readonly engine: Engine
  readonly store: PushStore
  readonly codecs: Codecs
  readonly post: Post
  /** How long one request of `post` may take. */
  readonly timeoutMs: number
  readonly clock: EngineDeps['clock']
  readonly log: EngineDeps['log']
  readonly tracing?: EngineDeps['tracing']
  readonly meter?: EngineDeps['meter']
  /** Whether a credential is still valid. */
  readonly stillValid: (credential: string) => Promise<boolean>
  /** In [0, 1): spreads retries. */
  readonly random: () => number
}

/**
 * @param posting is called when the first delivery is about to be sent: it may wait for a slot and a receiver
 * @returns the time of the next attempt, when a delivery failed and is to be retried
 * @throws TakenOver
 */
export type DeliverRecords = (
  push: Push,
  key: string,
  closing: AbortSignal,
  posting: () => void,
) => Promise<number | undefined>

/** One call of `DeliverRecords`. */
interface Work {
  readonly key: string
  readonly closing: AbortSignal
  readonly posting: () => void
  readonly duty: WebhookDuty
  /** As of its last record. */
  readonly task: Task
  readonly kept: Progress | undefined
}

/** The task as of the last record a worker read. `createdAt` identifies the webhook config it belongs to. */
interface Progress {
  readonly createdAt: number
  readonly task: Task
}

/** Webhooks whose progress is kept in memory. For the others the task is folded from its log again. */
const MAX_PROGRESS = 512

const DELIVERIES = 'lull_pushes_total'

const deliveryCaller: Caller = { tenant: ALL_TENANTS, principal: 'push', operator: true }

export function createDeliverRecords(deps: DeliveryDeps): DeliverRecords {
  const { engine, codecs, clock, log, random, stillValid } = deps
  const post = tracedPost(deps.post, deps.tracing)
  const progress = new Map<string, Progress>()

  function remember(key: string, reached: Progress): void {
    progress.set(key, reached)
    const oldest = progress.keys().next().value
    if (progress.size > MAX_PROGRESS && oldest !== undefined) progress.delete(oldest)
  }

  /** P7 @throws TargetRefused, which ends the webhook */
  async function checkRight({ setWith }: Push): Promise<void> {
    if (setWith === undefined || (await stillValid(setWith))) return
    throw new TargetRefused('The credential that set this webhook is not valid any more')
  }

  async function deliver(
    push: Push,
    before: Task | undefined,
    record: LogRecord,
    now: Task,
    { duty, posting }: Work,
  ): Promise<{ readonly push: Push; readonly delivered: boolean }> {
    const due = eventsOf(before, record, now).flatMap(
      (event) => deliveryOf(push, event, codecs) ?? [],
    )
    try {
      for (const delivery of due) {
        await checkRight(push)
        await duty.confirm()
        posting()
        await post(now, delivery, duty.confirm)
        deps.meter?.add(DELIVERIES, 1, 'delivered')
      }
    } catch (error) {
      if (error instanceof TakenOver) throw error
      const failed = afterFailure(push, error, clock.now(), random())
      deps.meter?.add(DELIVERIES, 1, failed.failedAt === undefined ? 'failed' : 'given_up')
      await duty.save(failed)
      return { push: failed, delivered: false }
    }
    // Done in the same write: a sweep compares versions, and does not find a webhook that has got everything.
    const sent = afterSuccess(push, record.seq, isTerminal(now.state))
    if (due.length > 0) await duty.save(sent)
    return { push: sent, delivered: true }
  }

  async function deliverAll(start: Push, work: Work): Promise<number | undefined> {
    const { key, closing, duty, task, kept } = work
    let push = start
    await duty.confirm()
    // An event shows the task as of its record. Without kept progress the task is folded from its first record.
    let now = kept?.task
    const after = now?.version ?? 0
    for await (const record of await engine.subscribe(deliveryCaller, push.taskId, { after })) {
      const before = now
      now = evolve(before, record)
      if (closing.aborted) return undefined
      if (record.seq > push.sentSeq) {
        const sent = await deliver(push, before, record, now, work)
        push = sent.push
        if (!sent.delivered) return nextAttempt(push, log)
      }
      if (record.seq >= task.version) break
    }
    if (isTerminal(task.state)) {
      await duty.save({ ...push, done: true })
      return undefined
    }
    if (now !== undefined) remember(key, { createdAt: push.createdAt, task: now })
    // The last records may have had no events. A task that stands still is then not found again as one with something due.
    if (kindOf(task.state) !== 'runnable') await duty.save(push)
    return undefined
  }

  return async (start, key, closing, posting) => {
    const known = progress.get(key)
    const kept = known?.createdAt === start.createdAt ? known : undefined
    const push = { ...start, sentSeq: Math.max(start.sentSeq, kept?.task.version ?? 0) }
    const task = await engine.get(deliveryCaller, push.taskId)
    if (task.version <= push.sentSeq && !isTerminal(task.state)) return undefined
    progress.delete(key)
    const duty = createWebhookDuty(deps, start, key)
    try {
      return await deliverAll(push, { key, closing, posting, duty, task, kept })
    } finally {
      await duty.giveBack()
    }
  }
}

/** @returns the time of the next attempt, if there is one */
function nextAttempt(push: Push, log: EngineDeps['log']): number | undefined {
  const { taskId, id, attempts, error: why, failedAt, retryAt } = push
  if (failedAt === undefined) return retryAt
  log('warn', 'A webhook was given up', { taskId, id, attempts, why })
  return undefined
}
