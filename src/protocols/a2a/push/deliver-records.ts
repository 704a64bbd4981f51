/** Sends one webhook the records of its task that it has not received yet. */

import { evolve } from '../../../core/evolve.ts'
import type { Push } from '../../../core/push.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isInterrupted, isTerminal, kindOf } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { ALL_TENANTS, type Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import { type WebhookShape, webhookShapes, wholeTask } from '../codec/codec.ts'
import { type Codecs, webhookCodec } from '../codec/create-codecs.ts'
import { binduEvent } from '../dialects/bindu/bindu-task.ts'
import { eventsOf, type TaskEvent } from '../streams/task-events.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import { afterFailure, afterSuccess } from './delivery-failure.ts'
import { type Delivery, tracedPost } from './post.ts'
import { TargetRefused } from './targets.ts'
import { createWebhookDuty, TakenOver, type WebhookDuty } from './webhook-duty.ts'

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
interface Work {
  readonly key: string
  readonly duty: WebhookDuty
  readonly posting: () => void
  readonly closing: AbortSignal
  /** The task as of its last record. */
  readonly task: Task
  /** The task as of the last record that an earlier call read. */
  readonly kept: Task | undefined
}

const DELIVERIES = 'lull_pushes_total'

const deliveryCaller: Caller = { tenant: ALL_TENANTS, principal: 'push', operator: true }

export function createDeliverRecords(deps: DeliveryDeps): DeliverRecords {
  const { engine, log, codecs, clock, meter, random, stillValid } = deps
  const post = tracedPost(deps.post, deps.tracing)
  const progress = createKeptProgress()

  /**
   * Checks that the credential is still valid (P7 of `pushes.ts`).
   * @throws TargetRefused, which ends the webhook
   */
  async function checkRight({ setWith }: Push): Promise<void> {
    if (setWith === undefined || (await stillValid(setWith))) return
    throw new TargetRefused('The credential that set this webhook is not valid any more')
  }

  /** Sends the events of one record, and stores the progress of the webhook. @throws TakenOver */
  async function sendRecord(
    push: Push,
    { before, record, now }: ReadRecord,
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
        meter?.add(DELIVERIES, 1, 'delivered')
      }
    } catch (error) {
      if (error instanceof TakenOver) throw error
      const failed = afterFailure(push, error, clock.now(), random())
      meter?.add(DELIVERIES, 1, failed.failedAt === undefined ? 'failed' : 'given_up')
      await duty.save(failed)
      return { push: failed, delivered: false }
    }
    // Marked as done in the same write. A sweep compares versions, and would not find a webhook
    // that has got every record.
    const sent = afterSuccess(push, record.seq, isTerminal(now.state))
    if (due.length > 0) await duty.save(sent)
    return { push: sent, delivered: true }
  }

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

/** A record, with its task before and after it. */
interface ReadRecord {
  readonly before: Task | undefined
  readonly record: LogRecord
  readonly now: Task
}

/**
 * Renders an event in the protocol version with which the webhook was created. Undefined for events that are not sent
 * to webhooks: reminders are sent only to streams.
 */
function deliveryOf(push: Push, event: TaskEvent, codecs: Codecs): Delivery | undefined {
  if (event.kind === 'reminder') return undefined
  const shape = shapeOf(push)
  // In 0.3 the body is the whole task, which has the result already.
  if (event.kind === 'artifact' && event.isResult && shape !== '1.0') return undefined
  return {
    tenant: event.task.tenant,
    url: push.url,
    headers: {
      'content-type': shape === '1.0' ? 'application/a2a+json' : 'application/json',
      ...(shape === '1.0' ? { 'a2a-version': '1.0' } : {}),
      ...authorization(push),
      ...(push.token === undefined ? {} : { 'x-a2a-notification-token': push.token }),
    },
    body: JSON.stringify(bodyOf(shape, event, codecs)),
  }
}

/** The shape of a webhook. An unknown one was written by a later version of Lull, and gets 0.3. */
function shapeOf({ version }: Push): WebhookShape {
  return webhookShapes.find((shape) => shape === version) ?? '0.3'
}

/** Renders the body. Receivers of 1.0 get stream events (§4.3.3), receivers of 0.3 whole tasks. */
function bodyOf(
  shape: WebhookShape,
  event: Exclude<TaskEvent, { kind: 'reminder' }>,
  codecs: Codecs,
): unknown {
  if (shape === '0.3-bindu') return binduEvent(event)
  const codec = webhookCodec(codecs, shape)
  if (shape !== '1.0') return codec.task(event.task, wholeTask)
  const { state } = event.task
  const closes = event.kind === 'status' && (isTerminal(state) || isInterrupted(state))
  return codec.event(event, closes)
}

function authorization({ authentication }: Push): Record<string, string> {
  if (authentication === undefined) return {}
  const { scheme, credentials } = authentication
  return { authorization: credentials === undefined ? scheme : `${scheme} ${credentials}` }
}

/**
 * Caches the tasks of webhooks as of the last record that a worker read, so that they are not
 * folded from their logs again. A failover may undo the last records of a task and the progress of
 * its webhook (P6 of `pushes.ts`), so a cached task is used only if the stored webhook is
 * unchanged.
 */
interface Progress {
  /** Identifies the config of the webhook. */
  readonly createdAt: number
  /**
   * The stored cursor. A different one means that the store lost writes, or that another process
   * has delivered.
   */
  readonly sentSeq: number
  readonly task: Task
}

/** The most webhooks whose progress is kept. For others the task is folded from its log again. */
const MAX_PROGRESS = 512

export function createKeptProgress(): {
  /** @param version the current version of the task */
  of(key: string, stored: Push, version: number): Task | undefined
  /** @param stored the webhook as the store has it; its cursor may be behind the task, because some records have no events */
  keep(key: string, stored: Push, task: Task): void
  forget(key: string): void
} {
  const progress = new Map<string, Progress>()
  return {
    of(key, { createdAt, sentSeq }, version) {
      const kept = progress.get(key)
      if (kept?.createdAt !== createdAt || kept.sentSeq !== sentSeq) return undefined
      return kept.task.version > version ? undefined : kept.task
    },
    keep(key, { createdAt, sentSeq }, task) {
      progress.set(key, { createdAt, sentSeq, task })
      const oldest = progress.keys().next().value
      if (progress.size > MAX_PROGRESS && oldest !== undefined) progress.delete(oldest)
    },
    forget(key) {
      progress.delete(key)
    },
  }
}
