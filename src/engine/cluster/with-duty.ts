/**
 * Runs work that only one process may do at a time. The duty is renewed while the work runs, and
 * given back afterwards.
 */
import type { EngineContext } from '../context.ts'
import { whileRenewing } from './while-renewing.ts'

type DutyContext = Pick<EngineContext, 'takeDuty' | 'clock'> & {
  readonly options: Pick<EngineContext['options'], 'leaseMs'>
}

const RETRY_MS = 100

/**
 * Runs the work, waiting while another process has the duty. On an embedded store it runs at once.
 */
export async function withDuty<T>(
  context: DutyContext,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const { takeDuty, clock, options } = context
  let taken = takeDuty(name, options.leaseMs)
  if (taken === true) return work()
  while (!(await taken)) {
    await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve))
    taken = takeDuty(name, options.leaseMs)
  }
  return onDuty(context, name, work)
}

/** Runs the work, or does nothing while another process has the duty. */
export async function tryDuty(
  context: DutyContext,
  name: string,
  work: () => Promise<void>,
): Promise<void> {
  if (await context.takeDuty(name, context.options.leaseMs)) await onDuty(context, name, work)
}

async function onDuty<T>(
  { takeDuty, clock, options: { leaseMs } }: DutyContext,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await whileRenewing(clock, leaseMs / 3, () => takeDuty(name, leaseMs), work)
  } finally {
    await Promise.resolve(takeDuty(name, 0)).catch(() => undefined)
  }
}
