/** Sends one webhook the records of its task that it has not received. */
import { evolve } from '../../../core/evolve.ts'
import type { Push } from '../../../core/push.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isTerminal } from '../../../core/states.ts'
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

export interface DeliveryDeps {
  readonly engine: Engine
  readonly store: PushStore
  readonly codecs: Codecs
  readonly post: Post
  readonly clock: EngineDeps['clock']
  readonly log: EngineDeps['log']
  readonly tracing?: EngineDeps['tracing']
  readonly meter?: EngineDeps['meter']
  /** Whether a credential is still valid. */
  readonly stillValid: (credential: string) => Promise<boolean>
  /** In [0, 1): spreads retries. */
  readonly random: () => number
}

/** @returns the time of the next attempt, when a delivery failed and is to be retried */
export type DeliverRecords = (
  push: Push,
  key: string,
  closing: AbortSignal,
) => Promise<number | undefined>

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
  const { engine, store, codecs, clock, log, random, stillValid } = deps
  const post = tracedPost(deps.post, deps.tracing)
  const progress = new Map<string, Progress>()

  function remember(key: string, reached: Progress): void {
    progress.set(key, reached)
    const oldest = progress.keys().next().value
    if (progress.size > MAX_PROGRESS && oldest !== undefined) progress.delete(oldest)
  }

  /** Writes nothing when the config was removed or replaced meanwhile. */
  async function save(push: Push): Promise<void> {
    const known = (await store.pushes(push.taskId)).find((one) => one.id === push.id)
    if (known === undefined || known.createdAt !== push.createdAt) return
    await store.putPush(push)
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
  ): Promise<{ readonly push: Push; readonly delivered: boolean }> {
    const due = eventsOf(before, record, now).flatMap(
      (event) => deliveryOf(push, event, codecs) ?? [],
    )
    try {
      for (const delivery of due) {
        await checkRight(push)
        await post(now, delivery)
        deps.meter?.add(DELIVERIES, 1, 'delivered')
      }
    } catch (error) {
      const failed = afterFailure(push, error, clock.now(), random())
      deps.meter?.add(DELIVERIES, 1, failed.failedAt === undefined ? 'failed' : 'given_up')
      await save(failed)
      return { push: failed, delivered: false }
    }
    const sent = afterSuccess(push, record.seq)
    if (due.length > 0) await save(sent)
    return { push: sent, delivered: true }
  }

  return async (start, key, closing) => {
    const known = progress.get(key)
    progress.delete(key)
    const kept = known?.createdAt === start.createdAt ? known : undefined
    let push = { ...start, sentSeq: Math.max(start.sentSeq, kept?.task.version ?? 0) }
    const task = await engine.get(deliveryCaller, push.taskId)
    if (task.version <= push.sentSeq && !isTerminal(task.state)) return undefined
    // An event shows the task as of its record. Without kept progress the task is folded from its first record.
    let now = kept?.task
    const after = now?.version ?? 0
    for await (const record of await engine.subscribe(deliveryCaller, push.taskId, { after })) {
      const before = now
      now = evolve(before, record)
      if (closing.aborted) return undefined
      if (record.seq > push.sentSeq) {
        const sent = await deliver(push, before, record, now)
        push = sent.push
        if (!sent.delivered) return nextAttempt(push, log)
      }
      if (record.seq >= task.version) break
    }
    if (isTerminal(task.state)) await save({ ...push, done: true })
    else if (now !== undefined) remember(key, { createdAt: push.createdAt, task: now })
    return undefined
  }
}

/** @returns the time of the next attempt, if there is one */
function nextAttempt(push: Push, log: EngineDeps['log']): number | undefined {
  const { taskId, id, attempts, error: why, failedAt, retryAt } = push
  if (failedAt === undefined) return retryAt
  log('warn', 'A webhook was given up', { taskId, id, attempts, why })
  return undefined
}
