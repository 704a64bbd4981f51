import type { Clock } from '../../ports/clock.ts'

/**
 * Waits for the work, at most `ms`. Resolves with false if the time passed first; the work then
 * continues.
 */
export async function endsWithin(
  clock: Clock,
  ms: number,
  work: Promise<unknown>,
): Promise<boolean> {
  let cancel: () => void = () => undefined
  const over = new Promise<false>((resolve) => {
    cancel = clock.after(ms, () => resolve(false))
  })
  try {
    return await Promise.race([work.then(() => true), over])
  } finally {
    cancel()
  }
}
