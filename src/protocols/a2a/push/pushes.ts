/**
 * Webhooks of tasks. The outbox is a place in the log per webhook (`core/push.ts`). Invariants (pushes.test.ts):
 *  P1  at least once: the place moves on only after the receiver took the event;
 *  P2  in order: one delivery per webhook at a time, the next event after the one before it;
 *  P3  a receiver that fails is tried again with growing pauses for a day, then parked as failed, for all to see;
 *  P4  after a restart deliveries go on where they were; one webhook never waits for another;
 *  P5  a webhook that comes with a message is written with what the message does, or not at all.
 */
import { LullError } from '../../../core/errors.ts'
import type { MakePush, Push, PushTarget } from '../../../core/push.ts'
import type { Task } from '../../../core/task.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { WebhookShape } from '../codec/codec.ts'
import { createDeliveryWorkers, type DeliveryDeps } from './delivery-workers.ts'
import { refusedTarget } from './targets.ts'

export interface Pushes {
  /** @throws LullError when the address is one we do not send to */
  check(target: PushTarget): void
  /** Makes the webhook that comes with a message: of a new task everything is sent, of another what follows. */
  withMessage(shape: WebhookShape, target: PushTarget): MakePush
  /** A webhook was written with the task: deliveries begin. */
  begin(taskId: string): void
  /** Everything the task does from now on will be sent. */
  set(task: Task, shape: WebhookShape, target: PushTarget): Promise<Push>
  /** The same, unless the task has such a webhook already: a message that is repeated changes nothing. */
  ensure(task: Task, shape: WebhookShape, target: PushTarget): Promise<void>
  list(taskId: string): Promise<readonly Push[]>
  remove(taskId: string, id: string): Promise<void>
  /** Goes on with what a process before us left. */
  start(): Promise<void>
  close(): void
}

export interface PushesDeps extends DeliveryDeps {
  readonly engine: Engine
  readonly ids: EngineDeps['ids']
  readonly allowInner: boolean
}

const PAGE = 500

export function createPushes(deps: PushesDeps): Pushes {
  const { engine, store, clock, ids, allowInner } = deps
  const workers = createDeliveryWorkers(deps)
  /** Tasks with webhooks that are not done: the others cost nothing when they move. */
  const watched = new Set<string>()
  const unwatch = engine.watch((task) => {
    if (watched.has(task.id)) workers.wake(task.id)
  })

  function check({ url }: PushTarget): void {
    const problem = refusedTarget(new URL(url), allowInner)
    if (problem === undefined) return
    throw new LullError('INVALID_INPUT', { path: 'url', problem })
  }

  function make(taskId: string, shape: WebhookShape, target: PushTarget, sentSeq: number): Push {
    // 0.3 receivers leave the id out and later name the task in its place.
    const id = target.id === '' ? (shape === '1.0' ? ids.uuid() : taskId) : target.id
    return { ...target, id, taskId, version: shape, createdAt: clock.now(), sentSeq, attempts: 0 }
  }

  function begin(taskId: string): void {
    watched.add(taskId)
    workers.wake(taskId)
  }

  const set: Pushes['set'] = async (task, shape, target) => {
    const push = make(task.id, shape, target, task.version)
    await store.putPush(push)
    begin(task.id)
    return push
  }

  const ensure: Pushes['ensure'] = async (task, shape, target) => {
    const known = await store.pushes(task.id)
    const isThere = known.some(
      ({ id, url }) => url === target.url && (target.id === '' || id === target.id),
    )
    if (!isThere) await set(task, shape, target)
  }

  async function start(): Promise<void> {
    let after: Push | undefined
    do {
      const page = await store.listPushes('open', after, PAGE)
      for (const { taskId } of page) begin(taskId)
      after = page.at(-1)
    } while (after !== undefined)
  }

  return {
    check,
    withMessage: (shape, target) => (task, before) =>
      make(task.id, shape, target, before === undefined ? 0 : task.version),
    begin,
    set,
    ensure,
    list: (taskId) => store.pushes(taskId),
    async remove(taskId, id) {
      await store.deletePush(taskId, id)
    },
    start,
    close() {
      unwatch()
      workers.close()
    },
  }
}
