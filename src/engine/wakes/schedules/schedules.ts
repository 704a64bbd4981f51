/** Schedules, for operators: list, pause, resume, and start a task by hand. */
import { LullError } from '../../../core/errors.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type Caller, maySee } from '../../caller.ts'
import { id } from '../../input/primitives.ts'
import type { SendResult } from '../../requests/send/send-result.ts'
import type { OperatorList, OperatorVerb } from '../../requests/verb.ts'
import { timeAfter, timesText } from './schedule.ts'
import type { FailedTime } from './schedule-state.ts'
import type { ScheduleEntry, Scheduler } from './scheduler.ts'

/** A schedule and its state. Instants are epoch milliseconds. */
export interface ScheduleInfo {
  /** `agent:name`. */
  readonly id: string
  readonly agent: string
  readonly name: string
  /** The cron expression with its time zone, or the interval. */
  readonly times: string
  readonly missed: 'skip' | 'run-once'
  readonly paused: boolean
  readonly pausedBy?: string
  /** The next time. Absent while the schedule is paused. */
  readonly nextAt?: number
  readonly lastAt?: number
  readonly lastTaskId?: string
  /**
   * Scheduled times that could not start a task, oldest first. Without `retryAt` the time was given
   * up.
   */
  readonly failed?: readonly FailedTime[]
}

export const pauseScheduleVerb: OperatorVerb<'pauseSchedule'> = {
  capability: 'schedules',
  scope: 'ops:control',
  input: id,
  audited: { action: 'schedule.pause' },
  method: ({ schedules }) => schedules.pause,
}

export const resumeScheduleVerb: OperatorVerb<'resumeSchedule'> = {
  capability: 'schedules',
  scope: 'ops:control',
  input: id,
  audited: { action: 'schedule.resume' },
  method: ({ schedules }) => schedules.resume,
}

export const runScheduleVerb: OperatorVerb<'runSchedule'> = {
  capability: 'schedules',
  scope: 'ops:control',
  input: id,
  audited: { action: 'schedule.run' },
  method: ({ schedules }) => schedules.run,
}

export const listSchedules: OperatorList<'schedules'> = {
  capability: 'schedules',
  scope: 'ops:read',
  method: ({ schedules }) => schedules.list,
}

export interface Schedules {
  list(caller: Caller): Promise<readonly ScheduleInfo[]>
  pause(caller: Caller, id: string): Promise<ScheduleInfo>
  resume(caller: Caller, id: string): Promise<ScheduleInfo>
  run(caller: Caller, id: string): Promise<SendResult>
}

export function createSchedules({ entries, states, run }: Scheduler, clock: Clock): Schedules {
  const seenBy = (caller: Caller): readonly ScheduleEntry[] =>
    entries().filter(({ schedule }) => maySee(caller, schedule))

  function named(caller: Caller, id: string): ScheduleEntry {
    const found = seenBy(caller).find((entry) => entry.id === id)
    if (found !== undefined) return found
    throw new LullError('NOT_FOUND', { what: 'schedule', id, instead: 'give agent:name' })
  }

  async function infoOf({ id, agent, schedule }: ScheduleEntry): Promise<ScheduleInfo> {
    const [state, pause] = await Promise.all([states.read(id), states.pauseOf(id)])
    const nextAt = pause === undefined ? timeAfter(schedule, clock.now()) : undefined
    return {
      id,
      agent,
      name: schedule.name,
      times: timesText(schedule),
      missed: schedule.missed,
      paused: pause !== undefined,
      ...(pause === undefined ? {} : { pausedBy: pause.by }),
      ...(nextAt === undefined ? {} : { nextAt }),
      ...(state?.lastAt === undefined ? {} : { lastAt: state.lastAt }),
      ...(state?.lastTaskId === undefined ? {} : { lastTaskId: state.lastTaskId }),
      ...(state?.failed === undefined ? {} : { failed: state.failed }),
    }
  }

  return {
    list: (caller) => Promise.all(seenBy(caller).map(infoOf)),
    async pause(caller, id) {
      const entry = named(caller, id)
      if ((await states.pauseOf(id)) === undefined) {
        await states.setPause(id, { pausedAt: clock.now(), by: caller.principal })
      }
      return infoOf(entry)
    },
    async resume(caller, id) {
      const entry = named(caller, id)
      // Written before the pause ends, so that times during the pause never count as missed (P4).
      await states.write(id, { handledUntil: clock.now() }, 'forget')
      await states.setPause(id, undefined)
      return infoOf(entry)
    },
    run: async (caller, id) => run(named(caller, id)),
  }
}
