/** What is stored about a schedule. The pause has a key of its own, so that a time that is due cannot undo a pause. */
import type { Json } from '../../../core/values/json.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { KeyValueStore } from '../../../ports/store/key-values.ts'
import { changeValue } from '../../upkeep/change-value.ts'

export interface ScheduleState {
  /** Times up to this instant were handled: started, missed, or paused. */
  readonly handledUntil: number
  /** The last time that started a task. */
  readonly lastAt?: number
  readonly lastTaskId?: string
}

export interface SchedulePause {
  readonly pausedAt: number
  readonly by: string
}

export interface ScheduleStates {
  read(id: string): Promise<ScheduleState | undefined>
  /** Keeps what another process wrote about later times. What is in the future is replaced. */
  write(id: string, state: ScheduleState): Promise<void>
  pauseOf(id: string): Promise<SchedulePause | undefined>
  /** Undefined ends the pause. */
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
    async write(id, state) {
      await changeValue(store, stateKey(id), (before) => {
        const known = (before ?? undefined) as ScheduleState | undefined
        const isLater = known !== undefined && known.handledUntil > state.handledUntil
        if (isLater && known.handledUntil <= clock.now()) return undefined
        return { ...known, ...state } as Json
      })
    },
    async pauseOf(id) {
      return ((await store.getValue(pauseKey(id))) ?? undefined) as SchedulePause | undefined
    },
    setPause: (id, pause) => store.setValue(pauseKey(id), (pause ?? null) as Json),
  }
}
