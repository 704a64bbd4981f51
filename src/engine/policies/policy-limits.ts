/**
 * Limits how many budgets and rules the operators of one tenant can create, because every process
 * keeps all of them in memory.
 */
import { LullError } from '../../core/errors.ts'

export const MOST_BUDGETS = 1_000
export const MOST_RULES = 100

/** @throws LullError `LIMIT_EXCEEDED` when one more would exceed the limit */
export function checkNumber(limit: string, value: number, known: number): void {
  if (known >= value) throw new LullError('LIMIT_EXCEEDED', { limit, value })
}
