/**
 * Webhooks of tasks. The outbox is a place in the log per webhook (`core/push.ts`). Invariants (pushes.test.ts):
 *  P1  at least once: the place moves on only after the receiver took the event;
 *  P2  in order: one delivery per webhook at a time, the next event after the one before it;
 *  P3  a receiver that fails is tried again with growing pauses for a day, then parked as failed, for all to see;
 *  P4  after a restart deliveries go on where they were; one webhook never waits for another.
 */
import { LullError } from '../../../core/errors.ts'
import type { Push, PushTarget } from '../../../core/push.ts'
import type { Task } from '../../../core/task.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Version } from '../versions.ts'
import { type CourierDeps, createCourier } from './courier.ts'
import { refusedTarget } from './targets.ts'

export interface Pushes {
  /** @throws LullError when the address is one we do not send to */
  check(target: PushTarget): void
  /** Everything after `sentSeq` will be sent. */
  set(task: Task, version: Version, target: PushTarget, sentSeq: number): Promise<Push>
  list(taskId: string): Promise<readonly Push[]>
  remove(taskId: string, id: string): Promise<void>
  /** Goes on with what a process before us left. */
  start(): Promise<void>
  close(): void
}

export interface PushesDeps extends CourierDeps {
  readonly engine: Engine
  readonly ids: EngineDeps['ids']
  readonly allowInner: boolean
}

const PAGE = 500

export function createPushes(deps: PushesDeps): Pushes {
  const { engine, store, clock, ids, allowInner } = deps
  const courier = createCourier(deps)
  /** Tasks with webhooks that are not done: the others cost nothing when they move. */
  const watched = new Set<string>()
  const unwatch = engine.watch((task) => {
    if (watched.has(task.id)) courier.wake(task.id)
  })

  function check({ url }: PushTarget): void {
    const problem = refusedTarget(new URL(url), allowInner)
    if (problem === undefined) return
    throw new LullError('INVALID_INPUT', { path: 'url', problem })
  }

  async function set(
    task: Task,
    version: Version,
    target: PushTarget,
    sentSeq: number,
  ): Promise<Push> {
    // 0.3 receivers leave the id out and later name the task in its place.
    const id = target.id === '' ? (version === '0.3' ? task.id : ids.uuid()) : target.id
    const push: Push = {
      ...target,
      id,
      taskId: task.id,
      version,
      createdAt: clock.now(),
      sentSeq,
      attempts: 0,
    }
    await store.putPush(push)
    watched.add(task.id)
    courier.wake(task.id)
    return push
  }

  async function start(): Promise<void> {
    let after: Push | undefined
    do {
      const page = await store.listPushes('open', after, PAGE)
      for (const { taskId } of page) {
        watched.add(taskId)
        courier.wake(taskId)
      }
      after = page.at(-1)
    } while (after !== undefined)
  }

  return {
    check,
    set,
    list: (taskId) => store.pushes(taskId),
    async remove(taskId, id) {
      await store.deletePush(taskId, id)
    },
    start,
    close() {
      unwatch()
      courier.close()
    },
  }
}
