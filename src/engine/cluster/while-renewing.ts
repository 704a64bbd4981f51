import type { Clock } from '../../ports/clock.ts'

/** Renews what this process has for a time only, while the work goes on. What could not be renewed may go to another. */
export async function whileRenewing<T>(
  clock: Clock,
  everyMs: number,
  renew: () => boolean | Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false
  let cancel: () => void = () => undefined
  let renewal: Promise<void> | undefined
  const renewLater = (): void => {
    if (isOver) return
    cancel = clock.after(everyMs, () => {
      renewal = Promise.resolve(renew())
        .catch(() => undefined)
        .then(renewLater)
    })
  }
  renewLater()
  try {
    return await work()
  } finally {
    isOver = true
    cancel()
    // A renewal that is under way would take again what the caller now gives back.
    await renewal
  }
}
