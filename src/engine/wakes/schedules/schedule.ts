/** Defines a schedule of an agent: at each of its times, a message starts a task. */
import { z } from 'zod'
import { LullError } from '../../../core/errors.ts'
import type { Part, PartInput } from '../../../core/messages/message.ts'
import { type Duration, toMs } from '../../../core/values/duration.ts'
import { list } from '../../input/bounded.ts'
import { part } from '../../input/message.ts'
import { parse } from '../../input/parse.ts'
import { duration, id, text } from '../../input/primitives.ts'
import { NEVER, nextFire } from '../cron.ts'

export type Schedule = ScheduleFacts &
  (
    | {
        /** Five or six fields, such as `0 9 * * 1-5`. */
        readonly cron: string
        /**
         * Default `UTC`. The time zone is explicit so that every process of a cluster computes the
         * same times.
         */
        readonly timezone?: string
        readonly every?: undefined
      }
    | {
        /**
         * An interval of at least a second. The times are multiples of it since 1970 UTC, so that
         * they are the same in every process.
         */
        readonly every: Duration
        readonly cron?: undefined
        readonly timezone?: undefined
      }
  )

export interface ScheduleFacts {
  /** The name of the schedule, unique for the agent. */
  readonly name: string
  /** The message that starts a task. */
  readonly message: string | readonly PartInput[]
  /**
   * What happens to times that passed while no process ran: nothing (default), or one task for the
   * latest of them.
   */
  readonly missed?: 'skip' | 'run-once'
  /**
   * The tenant and principal of the tasks. Default: tenant `default`, principal `anonymous`, as on
   * a server without authentication.
   */
  readonly tenant?: string
  readonly principal?: string
}

/** A validated schedule. */
export interface CheckedSchedule {
  readonly name: string
  readonly cron?: string
  readonly timezone?: string
  readonly every?: number
  readonly message: readonly Part[]
  readonly missed: 'skip' | 'run-once'
  readonly tenant: string
  readonly principal: string
}

const SECOND_MS = 1_000

const schedule = z
  .strictObject({
    name: text.regex(
      /^[a-z0-9][a-z0-9._-]{0,63}$/i,
      'must be 1 to 64 letters, digits, ".", "-", "_"',
    ),
    cron: text.min(1).max(256).optional(),
    timezone: text.min(1).max(64).optional(),
    every: duration.refine((ms) => ms >= SECOND_MS, 'must be at least a second').optional(),
    message: z.union([text.transform((said) => [{ text: said }]), list(part, 256, 1)]),
    missed: z.enum(['skip', 'run-once']).default('skip'),
    tenant: id.default('default'),
    principal: id.default('anonymous'),
  })
  .refine(({ cron, every }) => (cron === undefined) !== (every === undefined), {
    error: 'must have exactly one of cron and every',
  })

/** @throws LullError `INVALID_INPUT` with the path of the invalid member */
export function checkedSchedules(given: readonly Schedule[]): readonly CheckedSchedule[] {
  if (!Array.isArray(given)) {
    throw new LullError('INVALID_INPUT', { path: 'schedule', problem: 'must be a list' })
  }
  const names = new Set<string>()
  return given.map((one, index) => {
    const path = `schedule.${index}`
    const checked = parse(schedule, one, path) as CheckedSchedule
    if (names.has(checked.name)) {
      throw new LullError('INVALID_INPUT', { path: `${path}.name`, problem: 'is used twice' })
    }
    names.add(checked.name)
    expectTimes(checked, path)
    return checked
  })
}

/** Rejects an invalid expression when the agent is defined. */
function expectTimes({ cron, timezone }: CheckedSchedule, path: string): void {
  if (cron === undefined) return
  const next = nextFire(cron, timezone ?? 'UTC', 0)
  if (next.problem === undefined || next.problem === NEVER) return
  throw new LullError('INVALID_INPUT', { path: `${path}.${next.wrong}`, problem: next.problem })
}

/** The first time after the instant. Undefined if there is none in the next decades. */
export function timeAfter(
  { cron, timezone = 'UTC', every }: CheckedSchedule,
  instant: number,
): number | undefined {
  if (every !== undefined) return (Math.floor(instant / every) + 1) * every
  const next = nextFire(cron ?? '', timezone, instant)
  return next.problem === undefined ? next.at : undefined
}

/**
 * The latest time in (after, until], found by bisection: some time lies in (x, until] exactly if x
 * is before the latest time.
 */
export function latestTime(
  schedule: CheckedSchedule,
  after: number,
  until: number,
): number | undefined {
  const isBefore = (instant: number): boolean =>
    (timeAfter(schedule, instant) ?? until + 1) <= until
  if (after >= until || !isBefore(after)) return undefined
  let [low, high] = [after, until]
  // Times are at least a second apart.
  while (high - low >= SECOND_MS) {
    const middle = low + (high - low) / 2
    if (isBefore(middle)) low = middle
    else high = middle
  }
  return timeAfter(schedule, low)
}

/** How the schedule was written, for lists. */
export function timesText({ cron, timezone, every }: CheckedSchedule): string {
  if (every !== undefined) return `every ${everyText(every)}`
  return timezone === undefined ? `${cron}` : `${cron} (${timezone})`
}

const units = ['week', 'day', 'hour', 'minute', 'second'] as const

function everyText(ms: number): string {
  const unit = units.find((one) => ms % (toMs(`1 ${one}`) ?? 1) === 0)
  const count = unit === undefined ? ms : ms / (toMs(`1 ${unit}`) ?? 1)
  return `${count} ${unit ?? 'ms'}${unit === undefined || count === 1 ? '' : 's'}`
}
