/** The next attempts of webhooks. Each has its own timer, because receivers fail independently (P4). */
import type { EngineDeps } from '../../../engine/deps.ts'

export interface RetryTimers {
  /** Replaces the timer of the webhook. */
  set(key: string, at: number, retry: () => void): void
  count(): number
  cancelAll(): void
}

/** @param changed is called when a timer was set or has fired */
export function createRetryTimers(
  clock: Pick<EngineDeps['clock'], 'now' | 'after'>,
  changed: () => void,
): RetryTimers {
  /** Cancels the timer, per webhook that has one. */
  const timers = new Map<string, () => void>()
  return {
    set(key, at, retry) {
      timers.get(key)?.()
      const cancel = clock.after(at - clock.now(), () => {
        timers.delete(key)
        changed()
        retry()
      })
      timers.set(key, cancel)
      changed()
    },
    count: () => timers.size,
    cancelAll() {
      for (const cancel of timers.values()) cancel()
      timers.clear()
    },
  }
}
