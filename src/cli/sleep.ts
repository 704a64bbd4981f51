import { setTimeout as waited } from 'node:timers/promises'

/** Resolves after a time, or at once when the signal fires. Afterwards nothing listens to the signal any more. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await waited(ms, undefined, { signal }).catch(() => undefined)
}
