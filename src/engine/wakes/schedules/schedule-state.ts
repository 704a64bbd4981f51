/**
 * The stored state of a schedule. The pause is a separate value, so that handling a due time cannot
 * undo a pause.
 */
import type { Json } from '../../../core/values/json.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { KeyValueStore } from '../../../ports/store/key-values.ts'
import { changeValue } from '../../upkeep/change-value.ts'
import { afterTries, type FailedTime, type Tried } from './failed-times.ts'

export interface ScheduleState {
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

export interface SchedulePause {
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
