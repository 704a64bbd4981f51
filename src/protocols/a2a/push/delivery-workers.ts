/** Delivers events to webhooks. A webhook has one worker while there is something to deliver. */
import { describeError } from '../../../core/describe-error.ts'
import { evolve } from '../../../core/evolve.ts'
import type { Push } from '../../../core/push.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { ALL_TENANTS, type Caller } from '../../../engine/caller.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Codecs } from '../codec/codecs.ts'
import { eventsOf } from '../task-events.ts'
import { deliveryOf } from './body.ts'
import type { Post } from './post.ts'
import type { PushStore } from './push-store.ts'
import { TargetRefused } from './targets.ts'

export interface DeliveryDeps {
  readonly engine: Engine
  readonly store: PushStore
  readonly codecs: Codecs
  readonly post: Post
  readonly clock: EngineDeps['clock']
  readonly log: EngineDeps['log']
  /** In [0, 1): spreads retries. */
  readonly random: () => number
}

export interface DeliveryWorkers {
  /** Starts a worker for each webhook of the task that may have something to deliver. */
  wake(taskId: string): void
  close(): void
}

/** The task as of the last record a worker read. `createdAt` identifies the webhook config it belongs to. */
interface Progress {
  readonly createdAt: number
  readonly task: Task
}

/** Webhooks whose progress is kept in memory. For the others the task is folded from its log again. */
const MAX_PROGRESS = 512

const deliveryCaller: Caller = { tenant: ALL_TENANTS, principal: 'push', operator: true }

const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 3_600_000
const GIVE_UP_MS = 24 * 3_600_000

export function createDeliveryWorkers(deps: DeliveryDeps): DeliveryWorkers {
  const { engine, store, clock, log, random } = deps
  /** Webhooks with a worker. True when the worker must run again after it has finished. */
  const busy = new Map<string, boolean>()
  const progress = new Map<string, Progress>()
  /** Cancels the next attempt, per webhook that has one. */
  const retries = new Map<string, () => void>()
  let closed = false

  function wake(taskId: string): void {
    if (closed) return
    store
      .pushes(taskId)
      .then((pushes) => {
        for (const push of pushes) startWorker(push)
      })
      .catch((error: unknown) => log('error', 'Webhooks could not be read', { taskId, error }))
  }

  function startWorker(push: Push): void {
    if (closed || push.done || push.failedAt !== undefined) return
    const key = keyOf(push.taskId, push.id)
    if (busy.has(key)) {
      busy.set(key, true)
      return
    }
    if (push.retryAt !== undefined && push.retryAt > clock.now()) {
      retryLater(push, push.retryAt - clock.now())
      return
    }
    busy.set(key, false)
    work(push, key)
      .catch((error: unknown) => log('error', 'A webhook worker stopped', { key, error }))
      .finally(() => {
        const again = busy.get(key)
        busy.delete(key)
        if (again) wake(push.taskId)
      })
  }

  /** Each webhook has its own timer, because receivers fail independently (P4). */
  function retryLater({ taskId, id }: Push, ms: number): void {
    const key = keyOf(taskId, id)
    retries.get(key)?.()
    retries.set(
      key,
      clock.after(ms, () => {
        retries.delete(key)
        wake(taskId)
      }),
    )
  }

  async function work(start: Push, key: string): Promise<void> {
    const known = progress.get(key)
    progress.delete(key)
    const kept = known?.createdAt === start.createdAt ? known : undefined
    let push = kept === undefined ? start : { ...start, sentSeq: kept.task.version }
    const task = await engine.get(deliveryCaller, push.taskId)
    if (task.version <= push.sentSeq && !isTerminal(task.state)) return
    // An event shows the task as of its record. Without kept progress the task is folded from its first record.
    let now = kept?.task
    const after = now?.version ?? 0
    for await (const record of await engine.subscribe(deliveryCaller, push.taskId, { after })) {
      const before = now
      now = evolve(before, record)
      if (closed) return
      if (record.seq > push.sentSeq) {
        const sent = await deliver(push, before, record, now)
        push = sent.push
        if (!sent.delivered) return
      }
      if (record.seq >= task.version) break
    }
    if (isTerminal(task.state)) await save({ ...push, done: true })
    else if (now !== undefined) remember(key, { createdAt: push.createdAt, task: now })
  }

  function remember(key: string, reached: Progress): void {
    progress.set(key, reached)
    const oldest = progress.keys().next().value
    if (progress.size > MAX_PROGRESS && oldest !== undefined) progress.delete(oldest)
  }

  async function deliver(
    push: Push,
    before: Task | undefined,
    record: Parameters<typeof eventsOf>[1],
    now: Task,
  ): Promise<{ readonly push: Push; readonly delivered: boolean }> {
    const due = eventsOf(before, record, now).flatMap(
      (event) => deliveryOf(push, event, deps.codecs) ?? [],
    )
    try {
      for (const delivery of due) await deps.post(delivery)
    } catch (error) {
      await failed(push, error)
      return { push, delivered: false }
    }
    const { retryAt: _retry, firstFailedAt: _first, error: _error, ...rest } = push
    const moved: Push = { ...rest, sentSeq: record.seq, attempts: 0 }
    if (due.length > 0) await save(moved)
    return { push: moved, delivered: true }
  }

  async function failed(push: Push, error: unknown): Promise<void> {
    const at = clock.now()
    const firstFailedAt = push.firstFailedAt ?? at
    const attempts = push.attempts + 1
    const why = describeError(error).message
    const { taskId, id } = push
    if (error instanceof TargetRefused || at - firstFailedAt >= GIVE_UP_MS) {
      log('warn', 'A webhook was given up', { taskId, id, attempts, why })
      await save({ ...push, attempts, firstFailedAt, failedAt: at, error: why })
      return
    }
    const pause = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS)
    const retryAt = at + Math.round(pause * (0.5 + random() / 2))
    await save({ ...push, attempts, firstFailedAt, retryAt, error: why })
    retryLater(push, retryAt - at)
  }

  /** Writes nothing when the config was removed or replaced meanwhile. */
  async function save(push: Push): Promise<void> {
    const known = (await store.pushes(push.taskId)).find((one) => one.id === push.id)
    if (known === undefined || known.createdAt !== push.createdAt) return
    await store.putPush(push)
  }

  return {
    wake,
    close() {
      closed = true
      for (const cancel of retries.values()) cancel()
      retries.clear()
    },
  }
}

function keyOf(taskId: string, id: string): string {
  return JSON.stringify([taskId, id])
}
