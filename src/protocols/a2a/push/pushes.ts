/**
 * Webhooks of tasks. Each webhook has a cursor: the last record of the task's log that was
 * delivered (`core/push.ts`). Invariants (pushes.test.ts):
 *  P1  delivery is at least once: the cursor moves only after the receiver accepted the event;
 *  P2  delivery is in order: a webhook has one delivery in flight;
 *  P3  a delivery that failed is retried with growing pauses for a day, and then the webhook is listed as failed;
 *  P4  after a restart deliveries continue at the cursor, and no webhook waits for another one;
 *  P5  a webhook that comes with a message is written in the same commit as the effect of the message, or not at all;
 *  P6  of several processes on one store, only one delivers to a webhook, and another one continues
 *      if it dies;
 *  P7  a webhook ends with the credential that set it: nothing more is delivered, and it is listed as failed.
 */

import { LullError } from '../../../core/errors.ts'
import type { MakePush, Push, PushOwner, PushTarget } from '../../../core/push.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import { createShares } from '../../../engine/limits/shares.ts'
import type { SendResult } from '../../../engine/requests/send/send-result.ts'
import type { WebhookShape } from '../codec/codec.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import { createDeliveryWorkers } from './delivery-workers.ts'
import { countOpen, type OpenCounts } from './open-counts.ts'
import { createOpenWebhooks } from './open-webhooks.ts'
import { refusedTarget } from './targets.ts'

export interface Pushes {
  /** @throws LullError when the server does not send to this address */
  check(target: PushTarget): void
  /**
   * Sends a message with a webhook, and starts deliveries. If the message creates the task,
   * deliveries begin with its first record, otherwise with the next one. If the message is a
   * repetition, the webhook is not written.
   */
  withMessage(
    webhook: MessageWebhook,
    send: (push: MakePush) => Promise<SendResult>,
  ): Promise<SendResult>
  /** Adds a webhook, to which the records after the current version of the task are sent. */
  set(task: Task, shape: WebhookShape, target: PushTarget): Promise<Push>
  /** Adds a webhook unless the task already has it, so that a repeated message changes nothing. */
  ensure(task: Task, shape: WebhookShape, target: PushTarget): Promise<void>
  list(task: Task): Promise<readonly Push[]>
  remove(task: Task, id: string): Promise<void>
  /** Continues the deliveries of earlier processes. */
  start(): Promise<void>
  close(): void
}

export interface MessageWebhook {
  readonly owner: PushOwner
  /** Undefined if the message creates a task. */
  readonly taskId: string | undefined
  readonly shape: WebhookShape
  readonly target: PushTarget
}

export interface PushesDeps extends DeliveryDeps {
  readonly engine: Engine
  readonly ids: EngineDeps['ids']
  readonly allowInner: boolean
  /** The most open webhooks of a principal. */
  readonly webhooks: number
}

export function createPushes(given: PushesDeps): Pushes {
  const open = countOpen(given.store, given.clock)
  const { store } = open
  const deps = { ...given, store }
  const { engine, clock, ids, allowInner } = deps
  const workers = createDeliveryWorkers(deps)
  const addWithinLimits = createAddWithinLimits(open, given.webhooks)
  // Changes of tasks without an open webhook are ignored.
  const unwatch = engine.watch((task) => {
    if (open.isOpen(task.id)) void workers.wake(task)
  }, open.isOpen)
  const sweeps = createOpenWebhooks({ ...deps, listOpen: open.listOpen, begin: workers.wake })

  function check({ url }: PushTarget): void {
    const problem = refusedTarget(new URL(url), allowInner)
    if (problem === undefined) return
    throw new LullError('INVALID_INPUT', { path: 'url', problem })
  }

  function make(task: Task, shape: WebhookShape, target: PushTarget, sentSeq: number): Push {
    const { id: taskId, tenant, principal } = task
    const owner = { tenant, principal }
    // Clients of 0.3 may omit the id, and use the task id instead.
    const id = target.id === '' ? (shape === '1.0' ? ids.uuid() : taskId) : target.id
    const start = { createdAt: clock.now(), sentSeq, attempts: 0 }
    // A task that has ended writes no more records, so no worker would ever mark the webhook as
    // done.
    const done = isTerminal(task.state) && sentSeq === task.version ? { done: true as const } : {}
    return { ...target, id, taskId, owner, version: shape, ...start, ...done }
  }

  const set: Pushes['set'] = (task, shape, target) =>
    addWithinLimits(task, task.id, target, async () => {
      const push = make(task, shape, target, task.version)
      await store.putPush(push)
      void workers.wake(task)
      return push
    })

  const withMessage: Pushes['withMessage'] = ({ owner, taskId, shape, target }, send) =>
    addWithinLimits(owner, taskId, target, async () => {
      let made: Push | undefined
      const sent = await send((task, before) => {
        made = make(task, shape, target, before === undefined ? 0 : task.version)
        return made
      })
      if (sent.kind !== 'task' || sent.repeated) return sent
      if (made !== undefined) open.see(made)
      void workers.wake(sent.task)
      return sent
    })

  const ensure: Pushes['ensure'] = async (task, shape, target) => {
    const known = await store.pushes(task.tenant, task.id)
    const isThere = known.some(
      ({ id, url }) => url === target.url && (target.id === '' || id === target.id),
    )
    if (!isThere) await set(task, shape, target)
  }

  return {
    check,
    withMessage,
    set,
    ensure,
    list: ({ tenant, id }) => store.pushes(tenant, id),
    remove: ({ tenant, id: taskId }, id) => store.deletePush(tenant, taskId, id),
    start: sweeps.start,
    close() {
      unwatch()
      sweeps.stop()
      workers.close()
    },
  }
}

/** The limit per task, because every event of the task is sent to each of its webhooks. */
const WEBHOOKS_PER_TASK = 16
const TENANT_FACTOR = 4
const RETRY_AFTER_MS = 60_000

/**
 * @param webhooks the most open webhooks of a principal
 * @returns a function that runs `add`, which adds a webhook to a task or creates the task with it (`taskId` is then
 * undefined). Additions to one task run one after the other. It throws `LIMIT_EXCEEDED` when the task, its principal or
 * its tenant may not have another webhook
 */
function createAddWithinLimits(open: OpenCounts, webhooks: number) {
  const additions = createShares(1)
  const limits = [
    ['principal', webhooks],
    ['tenant', webhooks * TENANT_FACTOR],
  ] as const

  async function isThere(tenant: string, taskId: string, id: string): Promise<boolean> {
    const known = await open.store.pushes(tenant, taskId)
    if (known.some((one) => one.id === id)) return true
    if (known.length < WEBHOOKS_PER_TASK) return false
    throw new LullError('LIMIT_EXCEEDED', { limit: 'webhooksPerTask', value: WEBHOOKS_PER_TASK })
  }

  function findReached(owner: PushOwner): (typeof limits)[number] | undefined {
    const used = open.of(owner)
    return limits.find(([of, value]) => used[of] >= value)
  }

  return <T>(
    owner: PushOwner,
    taskId: string | undefined,
    target: PushTarget,
    add: () => Promise<T>,
  ): Promise<T> => {
    const work = async () => {
      if (taskId !== undefined && (await isThere(owner.tenant, taskId, target.id))) return add()
      // Counts again, because other processes may have finished webhooks that are still counted
      // here.
      if (findReached(owner) !== undefined) await open.recount()
      const full = findReached(owner)
      if (full === undefined) return open.reserved(owner, add)
      const [of, value] = full
      const limit = `webhooks of the ${of}`
      throw new LullError('LIMIT_EXCEEDED', { limit, value, retryAfterMs: RETRY_AFTER_MS })
    }
    return taskId === undefined ? work() : additions.during(taskId, work)
  }
}
