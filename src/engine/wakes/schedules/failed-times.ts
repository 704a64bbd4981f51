/**
 * Times that could not start a task because of that one message: its agent's `receive` threw, or a quota was used up. Each is
 * tried again a few times, while later times go on. The list is stored, so that a restart forgets none and every process tries
 * it: the idempotency key of a time starts one task, whoever is first (P1 of `scheduler.ts`).
 */

export interface FailedTime {
  readonly time: number
  /** The number of attempts so far. */
  readonly attempts: number
  readonly why: string
  /** When to try again. Absent if there will be no further attempt. */
  readonly retryAt?: number
}

/** The result of an attempt to start a task for a time. */
export type Tried =
  | { readonly time: number; readonly failed?: undefined }
  | { readonly time: number; readonly failed: FailedTime }

/** The delays between attempts. After the last one, the time is given up. */
const DELAYS_MS = [1_000, 5_000, 30_000, 120_000, 600_000]
const LONGEST_MS = 600_000
/** The most failed times that are kept, the newest ones. */
const MOST = 10
const MOST_TEXT = 500

/**
 * The failed time after another attempt.
 * @param failure `isFinal`: another attempt would not help
 */
export function failedTime(
  before: Pick<FailedTime, 'time' | 'attempts'>,
  failure: { readonly why: string; readonly isFinal: boolean },
  now: number,
): FailedTime {
  const { time, attempts } = before
  const delay = failure.isFinal ? undefined : DELAYS_MS[attempts]
  return {
    time,
    attempts: attempts + 1,
    why: failure.why.slice(0, MOST_TEXT),
    ...(delay === undefined ? {} : { retryAt: now + delay }),
  }
}

/**
 * The failed times to try now. A retry that lies further ahead than any delay was written by a
 * wrong clock, and is due (P5 of `scheduler.ts`).
 */
export function retriesDue(failed: readonly FailedTime[], now: number): readonly FailedTime[] {
  return failed.filter(
    ({ retryAt }) => retryAt !== undefined && (retryAt <= now || retryAt > now + LONGEST_MS),
  )
}

/** Gives up a time whose retry was due while no process ran. */
export function givenUp({ time, attempts, why }: FailedTime): Tried {
  return { time, failed: { time, attempts, why } }
}

export function nextRetry(failed: readonly FailedTime[], now: number): number | undefined {
  const ahead = failed.flatMap(({ retryAt = 0 }) => (retryAt > now ? [retryAt] : []))
  return ahead.length === 0 ? undefined : Math.min(...ahead)
}

/**
 * The list after some attempts. If two processes tried the same time, the larger number of attempts
 * is kept. A time that was given up is dropped when a later one has started a task.
 */
export function afterTries(
  failed: readonly FailedTime[],
  tried: readonly Tried[],
): readonly FailedTime[] {
  let all = failed
  for (const one of tried) {
    const known = all.find(({ time }) => time === one.time)
    const others = all.filter(({ time }) => time !== one.time)
    if (one.failed === undefined) {
      all = others.filter(({ time, retryAt }) => retryAt !== undefined || time > one.time)
    } else if (known === undefined || isFurther(one.failed, known)) {
      all = [...others, one.failed]
    }
  }
  return [...all].sort((a, b) => a.time - b.time).slice(-MOST)
}

function isFurther(one: FailedTime, other: FailedTime): boolean {
  if (one.attempts !== other.attempts) return one.attempts > other.attempts
  return one.retryAt === undefined
}
