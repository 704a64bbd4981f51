/**
 * Starts tasks at the times of schedules. Every process of a cluster has a timer for each schedule of its agents.
 *
 * P1  A scheduled time starts at most one task in the whole cluster: the idempotency key of the
 *     message is derived from the agent, the schedule and the time.
 * P2  A time that a process could not handle (it died, or the store failed) is handled later, if it is at most
 *     `LATE_MS` ago.
 * P3  A time that is longer ago is missed. With `run-once`, the latest missed time starts a task, unless a time that is
 *     not missed does.
 * P4  No time starts a task while the schedule is paused, and none of those times counts as missed afterwards.
 * P5  A stored instant that is in the future was written by a wrong clock, and skips no time.
 * P6  A time whose message fails (its agent's `receive` throws) is tried again a few times, and blocks no other time.
 */

import { type ErrorCode, isLullError } from '../../../core/errors.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { IdSource } from '../../../ports/ids.ts'
import type { EngineContext } from '../../context.ts'
import { least } from '../../limits/least.ts'
import type { Send } from '../../requests/send/send.ts'
import type { SendResult } from '../../requests/send/send-result.ts'
import { type CheckedSchedule, checkedSchedules, latestTime, timeAfter } from './schedule.ts'
import {
  afterTries,
  createScheduleStates,
  type FailedTime,
  failedTime,
  givenUp,
  nextRetry,
  retriesDue,
  type ScheduleStates,
  type Tried,
} from './schedule-state.ts'

/** A time that passed longer ago than this is missed. */
const LATE_MS = 60_000
const RETRY_MS = 1_000
const NEVER = Number.POSITIVE_INFINITY

export interface ScheduleEntry {
  /** `agent:name`. */
  readonly id: string
  readonly agent: string
  readonly schedule: CheckedSchedule
}

type Attempt = Tried & { readonly facts?: { readonly lastTaskId?: string } }

interface Handled {
  readonly until: number
  readonly retryAt: number | undefined
}

export interface Scheduler {
  readonly entries: () => readonly ScheduleEntry[]
  readonly states: ScheduleStates
  /** Starts a task now. With `time`, at most once for that time. */
  run(entry: ScheduleEntry, time?: number): Promise<SendResult>
  /** Does not wait for the tasks of due times, because `receive` of an agent may take any time. */
  start(): Promise<void>
  stop(): void
}

export function createScheduler(deps: {
  readonly context: Pick<EngineContext, 'agents' | 'store' | 'clock' | 'ids' | 'log'>
  readonly send: Send
}): Scheduler {
  const { context, send } = deps
  const { clock, ids, log } = context
  const states = createScheduleStates(context.store, clock)
  const cancels = new Map<string, () => void>()
  /**
   * Changes with every start and stop, so that a tick of an earlier start sets no further timer.
   */
  let generation = 0

  const entries = (): readonly ScheduleEntry[] => entriesOf(context.agents)
  const run: Scheduler['run'] = (entry, time) => startTask({ send, ids }, entry, time)

  /**
   * Handles the times in (after, now] that no process has handled, and failed times whose retry is
   * due. Returns `now` and the instant of the next retry.
   */
  async function handle(entry: ScheduleEntry, after: number): Promise<Handled> {
    const now = clock.now()
    const paused = (await states.pauseOf(entry.id)) !== undefined
    // Read after the pause (P4): if this process retries late, another one may have ended a pause
    // meanwhile.
    const { handledUntil: handled = after, failed = [] } = (await states.read(entry.id)) ?? {}
    const from = handled > now ? after : Math.max(after, handled)
    const due = paused ? [] : timesDue(entry.schedule, from, now)
    const again = paused ? [] : retriesDue(failed, now)
    const tried: Attempt[] = []
    for (const one of again) {
      const isMissed = isLate(one, now) && entry.schedule.missed === 'skip'
      tried.push(isMissed ? givenUp(one) : await tryOnce(entry, one, now))
    }
    for (const time of due) tried.push(await tryOnce(entry, { time, attempts: 0 }, now))
    const started = tried.findLast((one) => one.failed === undefined)
    const last = started === undefined ? {} : { lastAt: started.time, ...started.facts }
    await states.write(entry.id, { handledUntil: now, ...last }, tried)
    return { until: now, retryAt: nextRetry(afterTries(failed, tried), now) }
  }

  /**
   * Tries to start a task for a time (P6).
   * @throws errors because of which the engine or the store can start no task at all
   */
  async function tryOnce(
    entry: ScheduleEntry,
    one: Pick<FailedTime, 'time' | 'attempts'>,
    now: number,
  ): Promise<Attempt> {
    const { time } = one
    try {
      const sent = await run(entry, time)
      return { time, facts: sent.kind === 'task' ? { lastTaskId: sent.task.id } : {} }
    } catch (error) {
      if (hadItsTask(error)) return { time, facts: {} }
      if (isTroubleOfAll(error)) throw error
      const { message: why } = describeError(error)
      const isFinal = isLullError(error, 'INVALID_INPUT')
      const failed = failedTime(one, { why, isFinal }, now)
      const { attempts, retryAt } = failed
      const facts = { schedule: entry.id, time: toIso(time), attempts, error }
      if (retryAt === undefined) log('error', 'a schedule could not start a task', facts)
      else {
        const next = { ...facts, retryAt: toIso(retryAt) }
        log('warn', 'a schedule could not start a task; trying again', next)
      }
      return { time, failed }
    }
  }

  function arm(entry: ScheduleEntry, mine: number, after: number, at: number | undefined): void {
    if (mine !== generation || at === undefined) return
    const cancel = clock.at(at, () => void tick(entry, mine, after))
    cancels.set(entry.id, cancel)
  }

  /** Handles due times and sets the next timer. Never rejects. */
  async function tick(entry: ScheduleEntry, mine: number, after: number): Promise<void> {
    try {
      const { until, retryAt } = await handle(entry, after)
      const next = timeAfter(entry.schedule, until)
      const soonest = least([next ?? NEVER, retryAt ?? NEVER])
      arm(entry, mine, until, soonest === NEVER ? undefined : soonest)
    } catch (error) {
      if (mine !== generation) return
      log('error', 'a schedule could not be handled; trying again', { schedule: entry.id, error })
      arm(entry, mine, after, clock.now() + RETRY_MS)
    }
  }

  return {
    entries,
    states,
    run,
    async start() {
      const mine = ++generation
      for (const entry of entries()) {
        const known = await states.read(entry.id)
        const now = clock.now()
        void tick(entry, mine, Math.min(known?.handledUntil ?? now, now))
      }
    },
    stop() {
      generation++
      for (const cancel of cancels.values()) cancel()
      cancels.clear()
    },
  }
}

function entriesOf(agents: EngineContext['agents']): readonly ScheduleEntry[] {
  return [...agents.values()].flatMap(({ name: agent, schedule = [] }) =>
    checkedSchedules(schedule).map((one) => ({ id: `${agent}:${one.name}`, agent, schedule: one })),
  )
}

/**
 * Sends the message of the schedule. With `time` it has an idempotency key, so that a repetition
 * starts no second task (P1).
 */
function startTask(
  { send, ids }: { readonly send: Send; readonly ids: IdSource },
  { id, agent, schedule }: ScheduleEntry,
  time: number | undefined,
): Promise<SendResult> {
  const { tenant, principal, name, message: parts } = schedule
  const at = time === undefined ? undefined : toIso(time)
  const messageId = at === undefined ? ids.uuid() : `schedule:${id}:${at}`
  return send(
    { tenant, principal },
    {
      agent,
      message: { messageId, role: 'ROLE_USER', parts },
      metadata: { schedule: at === undefined ? { name } : { name, time: at } },
      origin: 'schedule',
      ...(at === undefined ? {} : { idempotencyKey: messageId }),
    },
  )
}

/** The times to handle now, by P2 and P3. */
function timesDue(schedule: CheckedSchedule, after: number, now: number): readonly number[] {
  const late = Math.max(after, now - LATE_MS - 1)
  const due: number[] = []
  for (let time = timeAfter(schedule, late); time !== undefined && time <= now; ) {
    due.push(time)
    time = timeAfter(schedule, time)
  }
  if (due.length > 0 || schedule.missed === 'skip') return due
  const missed = latestTime(schedule, after, late)
  return missed === undefined ? [] : [missed]
}

/**
 * Whether the time already has its task: its key was used with another message, because a process
 * with other code came first; or the task is not found, because retention has removed it.
 */
function hadItsTask(error: unknown): boolean {
  return isLullError(error, 'IDEMPOTENCY_KEY_REUSED') || isLullError(error, 'TASK_NOT_FOUND')
}

/** Errors with which no message at all can be handled now, so the attempt does not count (P2). */
const troubleOfAll: readonly ErrorCode[] = [
  'STORE_UNAVAILABLE',
  'STORE_LOCKED',
  'OVERLOADED',
  'DRAINING',
]

function isTroubleOfAll(error: unknown): boolean {
  return troubleOfAll.some((code) => isLullError(error, code))
}

/** Applies P3 to a time whose retry is due. */
function isLate({ retryAt }: FailedTime, now: number): boolean {
  return retryAt !== undefined && now - retryAt > LATE_MS
}
