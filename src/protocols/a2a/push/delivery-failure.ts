/**
 * Decides the effect of a failed delivery on its webhook: a later attempt, or no further attempts.
 * It is pure.
 */

import type { Push } from '../../../core/push.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import { TargetRefused } from './targets.ts'

const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 3_600_000
const GIVE_UP_MS = 24 * 3_600_000

/** @param random a number in [0, 1), which spreads retries */
export function afterFailure(push: Push, error: unknown, at: number, random: number): Push {
  const firstFailedAt = push.firstFailedAt ?? at
  const attempts = push.attempts + 1
  const failed: Push = { ...push, attempts, firstFailedAt, error: describeError(error).message }
  if (error instanceof TargetRefused || at - firstFailedAt >= GIVE_UP_MS) {
    return { ...failed, failedAt: at }
  }
  return { ...failed, retryAt: at + Math.round(longestPause(attempts) * (0.5 + random / 2)) }
}

const longestPause = (attempts: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS)

/**
 * Whether the next attempt is due. An instant that is further away than any pause was written by a
 * wrong clock, and counts as due.
 */
export function isRetryDue({ retryAt = 0, attempts }: Push, at: number): boolean {
  return retryAt <= at || retryAt > at + 2 * longestPause(attempts)
}

/** @param ended whether this was the last record of the task */
export function afterSuccess(push: Push, sentSeq: number, ended: boolean): Push {
  const { retryAt: _retry, firstFailedAt: _first, error: _error, ...rest } = push
  return { ...rest, sentSeq, attempts: 0, ...(ended ? { done: true } : {}) }
}
