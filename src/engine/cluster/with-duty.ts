/**
 * Does work that only one process may do at a time. Waits while another process does it. On an embedded store the work is
 * done at once.
 */
import type { EngineContext } from '../context.ts'

const RETRY_MS = 100

export async function withDuty<T>(
  { takeDuty, clock, options: { leaseMs } }: Pick<EngineContext, 'takeDuty' | 'clock' | 'options'>,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  let taken = takeDuty(name, leaseMs)
  if (taken === true) return work()
  while (!(await taken)) {
    await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve))
    taken = takeDuty(name, leaseMs)
  }
  let cancel: () => void = () => undefined
  const renewLater = (): void => {
    cancel = clock.after(leaseMs / 3, () => {
      // A duty that could not be renewed is another's when its time has passed.
      Promise.resolve(takeDuty(name, leaseMs)).catch(() => undefined)
      renewLater()
    })
  }
  renewLater()
  try {
    return await work()
  } finally {
    cancel()
    await Promise.resolve(takeDuty(name, 0)).catch(() => undefined)
  }
}
