import type { Clock } from '../../ports/clock.ts'

/**
 * Renews a reservation or duty regularly while the work runs. If a renewal fails, another process
 * may take it.
 */
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
    // Wait for a renewal under way: it would take back what the caller now releases.
    await renewal
  }
}
