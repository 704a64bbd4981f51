/**
 * The right of this process to deliver to one webhook and to write its progress (P6 of
 * `pushes.ts`). On an embedded store it always has this right. On a shared store, no request begins
 * once another process may have taken the duty: the last answer of the store must be at most half
 * the duty's time old, and a request takes less than the other half. The duty is not renewed by a
 * timer, because thousands of webhooks may wait for a slot.
 */
import type { Push } from '../../../core/push.ts'
import { createLease } from '../../../engine/cluster/lease.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { PushStore } from './delivery-deps.ts'

export interface WebhookDuty {
  /** Called immediately before each request. @throws TakenOver */
  confirm(): Promise<void>
  /**
   * Writes the changed webhook.
   * @throws TakenOver when another process has changed it; then nothing was written
   */
  save(push: Push): Promise<void>
  /** The webhook as it was last read or written. */
  stored(): Push
  giveBack(): Promise<void>
}

export interface WebhookDutyDeps {
  readonly engine: Pick<Engine, 'takeDuty'>
  readonly store: PushStore
  readonly clock: EngineDeps['clock']
  /** The time limit of one request. */
  readonly timeoutMs: number
}

/**
 * Thrown when another process may deliver to the webhook, or when it was set again or deleted. If
 * it has a cause, this is not certain: the store failed.
 */
export class TakenOver extends Error {
  override readonly name = 'TakenOver'
}

/** The least time after which another process takes over from a dead one. */
const DUTY_MS = 20_000

/** @param start the webhook as it was read */
export function createWebhookDuty(deps: WebhookDutyDeps, start: Push, key: string): WebhookDuty {
  const { engine, store, clock } = deps
  const name = `webhook ${key}`
  const dutyMs = Math.max(DUTY_MS, 2 * deps.timeoutMs)
  const fresh = createLease(clock, dutyMs / 2)
  let stored = start
  let isTaken = false

  async function take(): Promise<void> {
    const asked = fresh.instant()
    isTaken = await engine.takeDuty(name, dutyMs)
    if (!isTaken) throw new TakenOver('Another process delivers to the webhook')
    fresh.renewed(asked)
    // Another process may have had the duty in between.
    const known = (await store.pushes(start.owner.tenant, start.taskId)).find(
      ({ id }) => id === start.id,
    )
    if (!isSame(known, stored)) throw new TakenOver('It has changed')
    if (!fresh.isCurrent()) throw new TakenOver('The store answered too late')
  }

  return {
    async confirm() {
      if (store.cluster === undefined || fresh.isCurrent()) return
      await take().catch((cause: unknown) => {
        if (cause instanceof TakenOver) throw cause
        throw new TakenOver('The store did not answer', { cause })
      })
    },
    async save(push) {
      if (isSame(push, stored)) return
      if (!(await store.replacePush(stored, push))) throw new TakenOver('It has changed')
      stored = push
    },
    stored: () => stored,
    async giveBack() {
      // If this fails, the duty expires by itself.
      if (isTaken) await engine.takeDuty(name, 0).catch(() => undefined)
    },
  }
}

function isSame(a: Push | undefined, b: Push): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
