/**
 * The right of this process to send to one webhook, and to write how far it is (P6). On an embedded store it always has it.
 *
 * No request begins after another process may have taken the duty: the answer of the store is at most half of the duty's
 * time old, and a request takes less than the other half. It is not renewed by a timer, because thousands of webhooks may
 * wait for a slot.
 */
import type { Push } from '../../../core/push.ts'
import { createLease } from '../../../engine/cluster/lease.ts'
import type { EngineDeps } from '../../../engine/deps.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { PushStore } from './push-store.ts'

export interface WebhookDuty {
  /** Called immediately before each request. @throws TakenOver */
  confirm(): Promise<void>
  /** Writes what has changed. @throws TakenOver when another one has changed it, and nothing was written */
  save(push: Push): Promise<void>
  /** The webhook as it was read or written last. */
  stored(): Push
  giveBack(): Promise<void>
}

export interface WebhookDutyDeps {
  readonly engine: Pick<Engine, 'takeDuty'>
  readonly store: PushStore
  readonly clock: EngineDeps['clock']
  /** How long one request may take. */
  readonly timeoutMs: number
}

/**
 * Another process may deliver to the webhook, or it was set again or deleted. With a cause, the store did not say so: it
 * failed.
 */
export class TakenOver extends Error {
  override readonly name = 'TakenOver'
}

/** How long another process waits before it takes over from one that is gone, at least. */
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
    // Another process may have had the duty meanwhile.
    const known = (await store.pushes(start.taskId)).find(({ id }) => id === start.id)
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
      // Without an answer the duty ends by itself.
      if (isTaken) await engine.takeDuty(name, 0).catch(() => undefined)
    },
  }
}

function isSame(a: Push | undefined, b: Push): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
