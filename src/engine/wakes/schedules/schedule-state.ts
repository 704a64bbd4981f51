/**
 * Times that could not start a task because of that one message: its agent's `receive` threw, or a quota was used up. Each is
 * tried again a few times, while later times go on. The list is stored, so that a restart forgets none and every process tries
 * it: the idempotency key of a time starts one task, whoever is first (P1 of `scheduler.ts`).
 */

import type { Json } from '../../../core/values/json.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { KeyValueStore } from '../../../ports/store/key-values.ts'
import { changeValue } from '../../upkeep/change-value.ts'

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

/**
 * The stored state of a schedule. The pause is a separate value, so that handling a due time cannot
 * undo a pause.
 */
interface ScheduleState {
  /**
   * Times up to this instant were handled: they started a task, were missed, or fell into a pause.
   */
  readonly handledUntil: number
  /** The last scheduled time that started a task. */
  readonly lastAt?: number
  readonly lastTaskId?: string
  /**
   * Scheduled times that could not start a task, oldest first. Each will be tried again, or was
   * given up.
   */
  readonly failed?: readonly FailedTime[]
}

interface SchedulePause {
  readonly pausedAt: number
  readonly by: string
}

export interface ScheduleStates {
  read(id: string): Promise<ScheduleState | undefined>
  /**
   * Writes the state, unless another process has written one for later times. A stored instant in
   * the future is replaced.
   * @param tried the results of attempts; `forget`: no failed time is tried again
   */
  write(
    id: string,
    state: Omit<ScheduleState, 'failed'>,
    tried?: readonly Tried[] | 'forget',
  ): Promise<void>
  pauseOf(id: string): Promise<SchedulePause | undefined>
  /** Sets the pause, or ends it with undefined. */
  setPause(id: string, pause: SchedulePause | undefined): Promise<void>
}

export function createScheduleStates(
  store: KeyValueStore,
  clock: Pick<Clock, 'now'>,
): ScheduleStates {
  const stateKey = (id: string): string => `schedule/${id}`
  const pauseKey = (id: string): string => `schedule-pause/${id}`
  const read = async (id: string): Promise<ScheduleState | undefined> =>
    ((await store.getValue(stateKey(id))) ?? undefined) as ScheduleState | undefined
  return {
    read,
    async write(id, state, tried = []) {
      await changeValue(store, stateKey(id), (before) => {
        const { failed: failedBefore = [], ...known } = (before ?? {}) as Partial<ScheduleState>
        const { handledUntil: handled = Number.NEGATIVE_INFINITY } = known
        const isLater = handled > state.handledUntil && handled <= clock.now()
        if (isLater && tried.length === 0) return undefined
        const failed = tried === 'forget' ? [] : afterTries(failedBefore, tried)
        const times = isLater ? known : { ...known, ...state }
        return { ...times, ...(failed.length === 0 ? {} : { failed }) } as Json
      })
    },
    async pauseOf(id) {
      return ((await store.getValue(pauseKey(id))) ?? undefined) as SchedulePause | undefined
    },
    setPause: (id, pause) => store.setValue(pauseKey(id), (pause ?? null) as Json),
  }
}
