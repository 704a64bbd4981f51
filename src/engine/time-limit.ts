import type { Clock } from '../ports/clock.ts'

/** Waits for the work, but no longer than `ms`. False: the time was over first; the work goes on by itself. */
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
