/**
 * Timers for the next attempts. Each webhook has its own, because receivers fail independently (P4
 * of `pushes.ts`).
 */
import type { EngineDeps } from '../../../engine/deps.ts'

export interface RetryTimers {
  /** Sets the timer of the webhook, replacing an earlier one. */
  set(key: string, at: number, retry: () => void): void
  count(): number
  cancelAll(): void
}

/** @param changed called when a timer was set or has fired */
export function createRetryTimers(
  clock: Pick<EngineDeps['clock'], 'now' | 'after'>,
  changed: () => void,
): RetryTimers {
  /** Functions that cancel the timer, per webhook. */
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
