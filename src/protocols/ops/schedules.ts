/** `/ops/schedules`: list, pause, resume, and start a task by hand. The id is `agent:name`. */
import { z } from 'zod'
import { toIso } from '../../core/values/instant.ts'
import { operatorVerbs } from '../../engine/requests/verbs.ts'
import type { FailedTime } from '../../engine/wakes/schedules/schedule-state.ts'
import type { ScheduleInfo } from '../../engine/wakes/schedules/schedules.ts'
import type { FailedScheduleTime, ScheduleSummary } from '../../wire/ops/control.ts'
import { type OpsRoute, route } from './route.ts'

const schedule: z.ZodType<ScheduleSummary> = z.object({
  scheduleId: z.string(),
  agent: z.string(),
  name: z.string(),
  times: z.string(),
  missed: z.enum(['skip', 'run-once']),
  paused: z.boolean(),
  pausedBy: z.string().optional(),
  nextAt: z.iso.datetime().optional(),
  lastAt: z.iso.datetime().optional(),
  lastTaskId: z.string().optional(),
  failed: z
    .array(
      z.object({
        time: z.iso.datetime(),
        attempts: z.number(),
        why: z.string(),
        retryAt: z.iso.datetime().optional(),
      }),
    )
    .optional(),
})

const listSchedules: OpsRoute = route('schedules', {
  scope: 'ops:read',
  about: 'The schedules of the agents, and when each starts a task next',
  answer: z.object({ schedules: z.array(schedule) }),
  handle: async (engine, caller) => ({ schedules: (await engine.schedules(caller)).map(shown) }),
})

const pauseSchedule: OpsRoute = route('pauseSchedule', {
  scope: operatorVerbs.pauseSchedule.scope,
  about: 'No time of the schedule starts a task until it is resumed',
  answer: schedule,
  handle: async (engine, caller, { id }) => shown(await engine.pauseSchedule(caller, id)),
})

const resumeSchedule: OpsRoute = route('resumeSchedule', {
  scope: operatorVerbs.resumeSchedule.scope,
  about: 'The schedule goes on with its next time',
  answer: schedule,
  handle: async (engine, caller, { id }) => shown(await engine.resumeSchedule(caller, id)),
})

const runSchedule: OpsRoute = route('runSchedule', {
  scope: operatorVerbs.runSchedule.scope,
  about: 'Starts a task of the schedule now',
  /** Without a task where the agent answered with a message. */
  answer: z.object({ scheduleId: z.string(), taskId: z.string().optional() }),
  async handle(engine, caller, { id }) {
    const sent = await engine.runSchedule(caller, id)
    return { scheduleId: id, ...(sent.kind === 'task' ? { taskId: sent.task.id } : {}) }
  },
})

export const scheduleRoutes: Readonly<
  Record<'schedules' | 'pauseSchedule' | 'resumeSchedule' | 'runSchedule', OpsRoute>
> = {
  schedules: listSchedules,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
}

function shown({ id, nextAt, lastAt, failed, ...info }: ScheduleInfo): ScheduleSummary {
  return {
    scheduleId: id,
    ...info,
    ...(nextAt === undefined ? {} : { nextAt: toIso(nextAt) }),
    ...(lastAt === undefined ? {} : { lastAt: toIso(lastAt) }),
    ...(failed === undefined ? {} : { failed: failed.map(shownFailure) }),
  }
}

function shownFailure({ time, retryAt, ...one }: FailedTime): FailedScheduleTime {
  return {
    time: toIso(time),
    ...one,
    ...(retryAt === undefined ? {} : { retryAt: toIso(retryAt) }),
  }
}
